"""ACLs: created, described and deleted (KIP-11, KIP-140, KIP-290).

The numbers are those of the wire format; a number without a name in Kafka counts as UNKNOWN. ANY
and MATCH are for filters: as in Kafka, an ACL with one of them fails the whole request. An ACL that
exists is not written again, and is no error. `authorizer.py` evaluates ACLs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.access_control_entry_record import AccessControlEntryRecord
from kafkadouble.messages.generated.create_acls import CreateAclsRequest
from kafkadouble.messages.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..metadata.controller_result import MAX_RECORDS_PER_USER_OP, ControllerResult, check_size
from ..metadata.features import METADATA_VERSION
from ..metadata.image import Acl, Image
from ..metadata.metadata_versions import NAMES
from ..metadata.record_versions import CIDR, NEWEST
from ..requests.request import Refusal
from . import cidr

RESOURCE_TYPES = ("UNKNOWN", "ANY", "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER")
PATTERN_TYPES = ("UNKNOWN", "ANY", "MATCH", "LITERAL", "PREFIXED")
OPERATIONS = (
    "UNKNOWN", "ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "CLUSTER_ACTION", "DESCRIBE_CONFIGS",
    "ALTER_CONFIGS", "IDEMPOTENT_WRITE", "CREATE_TOKENS", "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT",
)  # fmt: skip
PERMISSION_TYPES = ("UNKNOWN", "ANY", "DENY", "ALLOW")
"""The names of the numbers."""

UNKNOWN, ANY, MATCH, LITERAL, CLUSTER = 0, 1, 2, 3, 4
CLUSTER_NAME = "kafka-cluster"
EVERY_HOST = EVERY_NAME = "*"

MAX_COMPARISONS, MAX_RESULTS = 1_000_000, 50_000
"""The most comparisons of an ACL with a filter in one request, about a second of work; and the most
ACLs in one answer, over all filters.
"""

Creation = CreateAclsRequest.AclCreation


def create_acls(
    image: Image, creations: Sequence[Creation], new_id: Callable[[], Uuid]
) -> ControllerResult[Refusal | None]:
    """Handles CreateAcls: None for each ACL that exists afterwards, or its refusal.
    Refusal(UNKNOWN_SERVER_ERROR) if one is a filter, (POLICY_VIOLATION) for too many.
    """
    if any(map(_is_filter, creations)):
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    there = set(image.acls.values())
    records: list[Message] = []
    results: list[Refusal | None] = []
    for creation in creations:
        try:
            _check_acl(image, acl := _acl(creation))
        except Refusal as refusal:
            results.append(refusal)
            continue
        if acl not in there:
            there.add(acl)
            records.append(AccessControlEntryRecord(id=_unused_acl_id(image, new_id), **acl._asdict()))
            check_size(len(records))
        results.append(None)
    return ControllerResult(records, results)


def _unused_acl_id(image: Image, new_id: Callable[[], Uuid]) -> Uuid:
    """An id that no ACL has, whatever `new_id` returns."""
    while (id := new_id()) in image.acls:
        pass
    return id


def _is_filter(creation: Creation) -> bool:
    return creation.resource_pattern_type in (ANY, MATCH) or ANY in (
        creation.resource_type,
        creation.operation,
        creation.permission_type,
    )


def _acl(creation: Creation) -> Acl:
    return Acl(
        creation.resource_type,
        creation.resource_name,
        creation.resource_pattern_type,
        creation.principal,
        creation.host,
        creation.operation,
        creation.permission_type,
    )


def _check_acl(image: Image, acl: Acl) -> None:
    if acl.resource_type == CLUSTER and acl.resource_name != CLUSTER_NAME:
        raise _invalid(f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}")
    if not acl.resource_name:
        raise _invalid("Invalid empty resource name")
    for what, names, number in (
        ("resourceType", RESOURCE_TYPES, acl.resource_type),
        ("patternType", PATTERN_TYPES, acl.pattern_type),
        ("operation", OPERATIONS, acl.operation),
        ("permissionType", PERMISSION_TYPES, acl.permission_type),
    ):
        if _name_of(names, number) == "UNKNOWN":
            raise _invalid(f"Invalid {what} UNKNOWN")
    if ":" not in acl.principal:
        raise _invalid(
            f"Could not parse principal from `{acl.principal}` (no colon is present separating the principal type from the "
            "principal name)"
        )
    _check_host(image, acl.host)


def _check_host(image: Image, host: str) -> None:
    if not host:
        raise _invalid("Host pattern cannot be null or empty")
    if "/" not in host or host == EVERY_HOST:
        return
    if image.features.get(METADATA_VERSION, NEWEST) < CIDR:
        message = f"CIDR-based ACL host patterns require metadata version {NAMES[CIDR]} or higher."
        raise Refusal(error_codes.UNSUPPORTED_VERSION, message)
    if problem := cidr.problem(host):
        raise _invalid(f"Invalid CIDR notation '{host}': {problem}")


class AclFilter(Protocol):
    """A filter of DescribeAcls or DeleteAcls; null names match everything."""

    resource_type_filter: int
    resource_name_filter: str | None
    pattern_type_filter: int
    principal_filter: str | None
    host_filter: str | None
    operation: int
    permission_type: int


def says_unknown(asked: AclFilter) -> bool:
    """Whether one of the numbers is 0: the client did not know its meaning."""
    return UNKNOWN in (asked.resource_type_filter, asked.pattern_type_filter, asked.operation, asked.permission_type)


def has_unknown(asked: AclFilter) -> bool:
    """Whether one of the numbers has no name in Kafka."""
    numbers = (
        (RESOURCE_TYPES, asked.resource_type_filter),
        (PATTERN_TYPES, asked.pattern_type_filter),
        (OPERATIONS, asked.operation),
        (PERMISSION_TYPES, asked.permission_type),
    )
    return any(_name_of(names, number) == "UNKNOWN" for names, number in numbers)


def matching_acls(image: Image, asked: AclFilter) -> list[tuple[Acl, Uuid]]:
    """The ACLs that match a filter, in order."""
    return sorted((acl, id) for id, acl in image.acls.items() if _matches(asked, acl))


def _matches(asked: AclFilter, acl: Acl) -> bool:
    return (
        asked.resource_type_filter in (ANY, acl.resource_type)
        and asked.operation in (ANY, acl.operation)
        and asked.permission_type in (ANY, acl.permission_type)
        and asked.principal_filter in (None, acl.principal)
        and asked.host_filter in (None, acl.host)
        and _matches_pattern(asked, acl)
    )


def _matches_pattern(asked: AclFilter, acl: Acl) -> bool:
    """MATCH matches every pattern that covers the name (KIP-290)."""
    name, kind = asked.resource_name_filter, asked.pattern_type_filter
    if kind not in (ANY, MATCH, acl.pattern_type):
        return False
    if name is None or name == acl.resource_name:
        return True
    if kind != MATCH:
        return False
    if acl.pattern_type == LITERAL:
        return acl.resource_name == EVERY_NAME
    return name.startswith(acl.resource_name)


class AclDeleteResult(NamedTuple):
    """The ACLs that a filter matched, or its refusal."""

    found: list[Acl]
    refusal: Refusal | None = None


def delete_acls(image: Image, filters: Sequence[AclFilter]) -> ControllerResult[AclDeleteResult]:
    """Handles DeleteAcls. Refusal(INVALID_REQUEST) for too many."""
    if len(filters) * len(image.acls) > MAX_COMPARISONS:
        raise _invalid(
            f"Cannot look for more than {MAX_COMPARISONS // len(image.acls)} filters among {len(image.acls)} acls."
        )
    gone: dict[Uuid, Message] = {}
    results, told = [], 0
    for asked in filters:
        if has_unknown(asked):
            results.append(AclDeleteResult([], _invalid(_unknown_part(asked))))
            continue
        found = matching_acls(image, asked)
        gone |= {id: RemoveAccessControlEntryRecord(id=id) for _, id in found}
        told += len(found)
        if len(gone) > MAX_RECORDS_PER_USER_OP or told > MAX_RESULTS:
            raise _invalid(f"Cannot remove more than {MAX_RECORDS_PER_USER_OP} acls in a single delete operation.")
        results.append(AclDeleteResult([acl for acl, _ in found]))
    return ControllerResult(list(gone.values()), results)


def _unknown_part(asked: AclFilter) -> str:
    names = _name_of(RESOURCE_TYPES, asked.resource_type_filter), _name_of(PATTERN_TYPES, asked.pattern_type_filter)
    return "Unknown patternFilter." if "UNKNOWN" in names else "Unknown entryFilter."


def _name_of(names: Sequence[str], number: int) -> str:
    return names[number] if 0 <= number < len(names) else names[UNKNOWN]


def _invalid(message: str) -> Refusal:
    return Refusal(error_codes.INVALID_REQUEST, message)
