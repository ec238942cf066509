"""Who may do what, by the ACLs of the cluster: Kafka's StandardAuthorizer (KIP-11, KIP-290, KIP-801).

Rules. A super user may do everything. Of the ACLs that are about the resource, by its name, by a prefix of it or by `*`, one that denies is
stronger than any that allows. Who may read, write, delete or alter may also describe; who may alter configurations may also describe them. A
resource that no ACL is about is open to all only with `allow.everyone.if.no.acl.found`. This file decides, and knows no request.
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
EVERYBODY = "User:*"

ALL, CREATE, DELETE, ALTER, DESCRIBE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, CREATE_TOKENS = (
    OPERATIONS.index(name)
    for name in (
        *("ALL", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"),
        "CREATE_TOKENS",
    )
)
_READ, _WRITE = OPERATIONS.index("READ"), OPERATIONS.index("WRITE")
IMPLIED_BY = {DESCRIBE: frozenset((_READ, _WRITE, DELETE, ALTER)), DESCRIBE_CONFIGS: frozenset((ALTER_CONFIGS,))}
"""An operation -> those whose permission is also one for it."""

DENY = 2


class Authorizer:
    """That of one node, by its settings."""

    def __init__(self, settings: Settings) -> None:
        users, is_open = (settings.texts.get(name, "") for name in OF_AUTHORIZER)
        self._super_users = {user.strip() for user in users.split(";") if user.strip()}
        self._open = is_open.strip().lower() == "true"

    def allows(self, image: Image, who: tuple[str, str], operation: int, resource_type: int, name: str) -> bool:
        """Whether `who`, a principal and the host that it comes from, may do this."""
        principal, host = who
        if principal in self._super_users:
            return True
        about = [acl for acl in image.acls.values() if acl.resource_type == resource_type and _is_about(acl, name)]
        if not about:
            return self._open
        his = [acl for acl in about if acl.principal in (principal, EVERYBODY) and _comes_from(acl.host, host)]
        return not _denied(his, operation) and _allowed(his, operation)


def of_settings(settings: Settings) -> Authorizer | None:
    """The one that they name; None for none."""
    return Authorizer(settings) if settings["authorizer.class.name"] == STANDARD else None


def _is_about(acl: Acl, name: str) -> bool:
    if acl.pattern_type == LITERAL:
        return acl.resource_name in (name, EVERY_NAME)
    return name.startswith(acl.resource_name)


def _comes_from(allowed: str, host: str) -> bool:
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
