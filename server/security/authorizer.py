"""Evaluates ACLs: Kafka's StandardAuthorizer (KIP-11, KIP-290, KIP-801).

A super user may do everything. ACLs cover a resource by its name, by a prefix, or by `*`; an ACL
that denies overrides those that allow. The permission to read, write, delete or alter implies
describe; alter configs implies describe configs. A resource without ACLs is open only with
`allow.everyone.if.no.acl.found`. Decisions are kept until an ACL changes. This file knows no
requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING

from kafkadouble.messages.uuid import Uuid

from ..configs.settings import OF_AUTHORIZER
from ..metadata.image import Acl, Image
from ..requests.kept_bytes import text_bytes
from .acl_index import NO_ACLS, AclIndex
from .acls import EVERY_HOST, EVERY_NAME, LITERAL, OPERATIONS, PREFIXED

if TYPE_CHECKING:
    from ..configs.settings import Settings

STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
WILDCARD_PRINCIPAL = "User:*"

ALL, READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE = map(
    OPERATIONS.index, ("ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE")
)
CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE, CREATE_TOKENS = map(
    OPERATIONS.index, ("CLUSTER_ACTION", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "CREATE_TOKENS")
)
IMPLIED_BY = {DESCRIBE: frozenset((READ, WRITE, DELETE, ALTER)), DESCRIBE_CONFIGS: frozenset((ALTER_CONFIGS,))}
"""An operation -> the operations whose permission implies it."""

DENY = 2
ANY_NAME = "hardcode"
"""The name for which Kafka first asks whether every resource of a type is allowed."""

MAX_DECISIONS_BYTES = 4 << 20
"""The most bytes that the kept decisions take, by estimate: about 15,000 of them with short names.
Clients choose the names of resources, and a decision takes microseconds.
"""

DECISION_BYTES = 100
"""The memory of a decision without the name of its resource and its client."""

Client = tuple[str, str]
"""A principal and its host."""

Question = tuple[Client, int, int, str]
"""A client, an operation, and the type and the name of a resource."""


class Authorizer:
    """Authorizes operations by the settings of one node."""

    def __init__(self, settings: Settings) -> None:
        users, is_open = (settings.texts.get(name, "") for name in OF_AUTHORIZER)
        self._super_users = {user.strip() for user in users.split(";") if user.strip()}
        self._open = is_open.strip().lower() == "true"
        self._index = AclIndex()
        self._acls: Mapping[Uuid, Acl] | None = None
        """Those of the index."""
        self._decisions: dict[Question, bool] = {}
        self.decisions_bytes = 0

    def allows(self, image: Image, client: Client, operation: int, resource_type: int, name: str) -> bool:
        """Whether the client may do this."""
        if image.acls is not self._acls:
            self._index.follow(image.acls)
            self._acls = image.acls
            self._forget_decisions()
        question = client, operation, resource_type, name
        decision = self._decisions.get(question)
        if decision is None:
            decision = self._decide(*question)
            self._keep(question, decision)
        return decision

    def _keep(self, question: Question, decision: bool) -> None:
        client, *_, name = question
        size = DECISION_BYTES + text_bytes(name) + sum(map(text_bytes, client))
        if self.decisions_bytes + size > MAX_DECISIONS_BYTES:
            self._forget_decisions()
        self._decisions[question] = decision
        self.decisions_bytes += size

    def _forget_decisions(self) -> None:
        self._decisions.clear()
        self.decisions_bytes = 0

    def allows_any(self, image: Image, client: Client, operation: int, resource_type: int) -> bool:
        """Whether the client may do this to some resource of the type (KIP-679)."""
        if self.allows(image, client, operation, resource_type, ANY_NAME):
            return True
        own = [
            acl
            for acl in self._index.of_type(resource_type, (client[0], WILDCARD_PRINCIPAL))
            if acl.operation in (ALL, operation) and _matches_host(acl.host, client[1])
        ]
        denied = {_pattern(acl) for acl in own if acl.permission_type == DENY}
        allowed = {_pattern(acl) for acl in own if acl.permission_type != DENY}
        if (LITERAL, EVERY_NAME) in denied:
            return False
        return (LITERAL, EVERY_NAME) in allowed or any(not _is_dominated(pattern, denied) for pattern in allowed)

    def _decide(self, client: Client, operation: int, resource_type: int, name: str) -> bool:
        principal, host = client
        if principal in self._super_users:
            return True
        has_acls, own = False, list[Acl]()
        for acls in self._index.covering(resource_type, name):
            has_acls = True
            own += acls.get(principal, NO_ACLS).values()
            if principal != WILDCARD_PRINCIPAL:
                own += acls.get(WILDCARD_PRINCIPAL, NO_ACLS).values()
        if not has_acls:
            return self._open
        own = [acl for acl in own if _matches_host(acl.host, host)]
        return not _denied(own, operation) and _allowed(own, operation)


def of_settings(settings: Settings) -> Authorizer | None:
    """The authorizer of the settings, or None."""
    return Authorizer(settings) if settings["authorizer.class.name"] == STANDARD else None


def _pattern(acl: Acl) -> tuple[int, str]:
    return acl.pattern_type, acl.resource_name


def _is_dominated(pattern: tuple[int, str], denied: set[tuple[int, str]]) -> bool:
    """Whether everything that the pattern allows is denied, as far as Kafka looks."""
    kind, name = pattern
    if kind == LITERAL and pattern in denied:
        return True
    return any((PREFIXED, name[:length]) in denied for length in range(1, len(name) + 1))


@lru_cache(4096)
def _matches_host(allowed: str, host: str) -> bool:
    host = _as_java(host)
    if allowed in (EVERY_HOST, host):
        return True
    try:
        return "/" in allowed and ip_address(host) in ip_network(allowed, strict=False)
    except ValueError:
        return False


def _as_java(host: str) -> str:
    """The address in the form of Java, with which Kafka compares: an IPv4 address inside an IPv6
    one is an IPv4 address."""
    if ":" not in host:
        return host
    try:
        address = IPv6Address(host)
    except ValueError:
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return ":".join(f"{int(part, 16):x}" for part in address.exploded.split(":"))


def _denied(acls: Iterable[Acl], operation: int) -> bool:
    return any(acl.permission_type == DENY and acl.operation in (ALL, operation) for acl in acls)


def _allowed(acls: Iterable[Acl], operation: int) -> bool:
    enough = {ALL, operation, *IMPLIED_BY.get(operation, ())}
    return any(acl.permission_type != DENY and acl.operation in enough for acl in acls)
