"""ACLs: the names of their numbers, and the filters of DescribeAcls and DeleteAcls (KIP-140,
KIP-290).

The numbers are those of the wire format; a number without a name in Kafka counts as UNKNOWN. ANY
and MATCH are for filters. `authorizer.py` evaluates ACLs; `controller/acl_control.py` creates and
deletes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kafkadouble.messages.uuid import Uuid

from ..metadata.image import Acl, Image
from ..requests.waiting import Wait, divided, ordered

RESOURCE_TYPES = ("UNKNOWN", "ANY", "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER")
PATTERN_TYPES = ("UNKNOWN", "ANY", "MATCH", "LITERAL", "PREFIXED")
OPERATIONS = (
    "UNKNOWN", "ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION", "DESCRIBE_CONFIGS",
    "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "CREATE_TOKENS", "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT",
)  # fmt: skip
PERMISSION_TYPES = ("UNKNOWN", "ANY", "DENY", "ALLOW")
"""The names of the numbers."""

UNKNOWN, ANY, MATCH, LITERAL, PREFIXED = range(5)
TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID, DELEGATION_TOKEN, USER = range(2, 8)
CLUSTER_NAME = "kafka-cluster"
EVERY_HOST = EVERY_NAME = "*"


class AclFilter(Protocol):
    """A filter of DescribeAcls or DeleteAcls; null names match everything."""

    resource_type_filter: int
    resource_name_filter: str | None
    pattern_type_filter: int
    principal_filter: str | None
    host_filter: str | None
    operation: int
    permission_type: int


def is_undecoded(acl_filter: AclFilter) -> bool:
    """Whether one of the numbers is 0: the client did not know its meaning."""
    return UNKNOWN in (
        acl_filter.resource_type_filter,
        acl_filter.pattern_type_filter,
        acl_filter.operation,
        acl_filter.permission_type,
    )


def has_unknown(acl_filter: AclFilter) -> bool:
    """Whether one of the numbers has no name in Kafka."""
    numbers = (
        (RESOURCE_TYPES, acl_filter.resource_type_filter),
        (PATTERN_TYPES, acl_filter.pattern_type_filter),
        (OPERATIONS, acl_filter.operation),
        (PERMISSION_TYPES, acl_filter.permission_type),
    )
    return any(name_of(names, number) == "UNKNOWN" for names, number in numbers)


def matching_acls(image: Image, acl_filter: AclFilter) -> Wait[list[tuple[Acl, Uuid]]]:
    """The ACLs that match a filter, in order, in slices."""
    found, _ = yield from divided(lambda each: _matches(acl_filter, each[1]), image.acls.items())
    return (yield from ordered((acl, id) for id, acl in found))


def _matches(acl_filter: AclFilter, acl: Acl) -> bool:
    return (
        acl_filter.resource_type_filter in (ANY, acl.resource_type)
        and acl_filter.operation in (ANY, acl.operation)
        and acl_filter.permission_type in (ANY, acl.permission_type)
        and acl_filter.principal_filter in (None, acl.principal)
        and acl_filter.host_filter in (None, acl.host)
        and _matches_pattern(acl_filter, acl)
    )


def _matches_pattern(acl_filter: AclFilter, acl: Acl) -> bool:
    """MATCH matches every pattern that covers the name (KIP-290)."""
    name, kind = acl_filter.resource_name_filter, acl_filter.pattern_type_filter
    if kind not in (ANY, MATCH, acl.pattern_type):
        return False
    if name is None or name == acl.resource_name:
        return True
    if kind != MATCH:
        return False
    if acl.pattern_type == LITERAL:
        return acl.resource_name == EVERY_NAME
    return name.startswith(acl.resource_name)


def name_of(names: Sequence[str], number: int) -> str:
    """The name of a number; UNKNOWN for one without a name."""
    return names[number] if 0 <= number < len(names) else names[UNKNOWN]
