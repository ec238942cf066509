"""Evaluates ACLs: Kafka's StandardAuthorizer (KIP-11, KIP-290, KIP-801).

A super user may do everything. ACLs cover a resource by its name, by a prefix, or by `*`; an ACL
that denies overrides those that allow. The permission to read, write, delete or alter implies
describe; alter configs implies describe configs. A resource without ACLs is open only with
`allow.everyone.if.no.acl.found`. This file knows no requests.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

from ..configs.settings import OF_AUTHORIZER
from ..metadata.image import Acl, Image
from .acls import EVERY_HOST, EVERY_NAME, LITERAL, OPERATIONS

if TYPE_CHECKING:
    from ..configs.settings import Settings

STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
WILDCARD_PRINCIPAL = "User:*"

ALL, CREATE, DELETE, ALTER, DESCRIBE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, CREATE_TOKENS = (
    OPERATIONS.index(name)
    for name in (
        *("ALL", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"),
        "CREATE_TOKENS",
    )
)
_READ, _WRITE = OPERATIONS.index("READ"), OPERATIONS.index("WRITE")
IMPLIED_BY = {DESCRIBE: frozenset((_READ, _WRITE, DELETE, ALTER)), DESCRIBE_CONFIGS: frozenset((ALTER_CONFIGS,))}
"""An operation -> the operations whose permission implies it."""

DENY = 2


class Authorizer:
    """Authorizes operations by the settings of one node."""

    def __init__(self, settings: Settings) -> None:
        users, is_open = (settings.texts.get(name, "") for name in OF_AUTHORIZER)
        self._super_users = {user.strip() for user in users.split(";") if user.strip()}
        self._open = is_open.strip().lower() == "true"

    def allows(self, image: Image, client: tuple[str, str], operation: int, resource_type: int, name: str) -> bool:
        """Whether the client, a principal and its host, may do this."""
        principal, host = client
        if principal in self._super_users:
            return True
        about = [
            acl for acl in image.acls.values() if acl.resource_type == resource_type and _covers_resource(acl, name)
        ]
        if not about:
            return self._open
        own = [
            acl for acl in about if acl.principal in (principal, WILDCARD_PRINCIPAL) and _matches_host(acl.host, host)
        ]
        return not _denied(own, operation) and _allowed(own, operation)


def of_settings(settings: Settings) -> Authorizer | None:
    """The authorizer of the settings, or None."""
    return Authorizer(settings) if settings["authorizer.class.name"] == STANDARD else None


def _covers_resource(acl: Acl, name: str) -> bool:
    if acl.pattern_type == LITERAL:
        return acl.resource_name in (name, EVERY_NAME)
    return name.startswith(acl.resource_name)


def _matches_host(allowed: str, host: str) -> bool:
    if allowed in (EVERY_HOST, host):
        return True
    try:
        return "/" in allowed and ip_address(host) in ip_network(allowed, strict=False)
    except ValueError:
        return False


def _denied(acls: Iterable[Acl], operation: int) -> bool:
    return any(acl.permission_type == DENY and acl.operation in (ALL, operation) for acl in acls)


def _allowed(acls: Iterable[Acl], operation: int) -> bool:
    enough = {ALL, operation, *IMPLIED_BY.get(operation, ())}
    return any(acl.permission_type != DENY and acl.operation in enough for acl in acls)
