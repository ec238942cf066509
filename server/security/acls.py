"""Access control lists as a decision, and as they are asked for (KIP-11, KIP-140, KIP-290).

Rules. The numbers are those of the wire; one that Kafka has no name for is UNKNOWN there. ANY and MATCH are for filters: an ACL that has one
makes Kafka fail over the whole request. An ACL that is there already is not written again, and that is no error. Whom ACLs let do what stands
in `authorizer.py`.
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
"""What the numbers of the wire stand for."""

UNKNOWN, ANY, MATCH, LITERAL, CLUSTER = 0, 1, 2, 3, 4
CLUSTER_NAME = "kafka-cluster"
EVERY_HOST = EVERY_NAME = "*"

MOST_LOOKS, MOST_TOLD = 1_000_000, 50_000
"""How often an ACL is held against a filter in one request, about a second; and so many ACLs are told in one answer, each to every filter."""

Creation = CreateAclsRequest.AclCreation


def create(image: Image, creations: Sequence[Creation], new_id: Callable[[], Uuid]) -> ControllerResult[Refusal | None]:
    """What CreateAcls does: None for each that is there in the end, or why not. Refusal(UNKNOWN_SERVER_ERROR) when one is a filter,
    Refusal(POLICY_VIOLATION) for too many."""
    if any(map(_is_filter, creations)):
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    there = set(image.acls.values())
    records: list[Message] = []
    results: list[Refusal | None] = []
    for creation in creations:
        try:
            _check(image, acl := _acl(creation))
        except Refusal as refusal:
            results.append(refusal)
            continue
        if acl not in there:
            there.add(acl)
            records.append(AccessControlEntryRecord(id=_unused(image, new_id), **acl._asdict()))
            check_size(len(records))
        results.append(None)
    return ControllerResult(records, results)


def _unused(image: Image, new_id: Callable[[], Uuid]) -> Uuid:
    """An id that no ACL has, whatever `new_id` gives."""
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


def _check(image: Image, acl: Acl) -> None:
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
        if _name(names, number) == "UNKNOWN":
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


class Asked(Protocol):
    """A filter as DescribeAcls and DeleteAcls have it; null names stand for all."""

    resource_type_filter: int
    resource_name_filter: str | None
    pattern_type_filter: int
    principal_filter: str | None
    host_filter: str | None
    operation: int
    permission_type: int


def says_unknown(asked: Asked) -> bool:
    """Whether one of its numbers is 0: its client did not know what it asked for."""
    return UNKNOWN in (asked.resource_type_filter, asked.pattern_type_filter, asked.operation, asked.permission_type)


def has_unknown(asked: Asked) -> bool:
    """Whether one of its numbers is none that Kafka has a name for."""
    numbers = (
        (RESOURCE_TYPES, asked.resource_type_filter),
        (PATTERN_TYPES, asked.pattern_type_filter),
        (OPERATIONS, asked.operation),
        (PERMISSION_TYPES, asked.permission_type),
    )
    return any(_name(names, number) == "UNKNOWN" for names, number in numbers)


def matching(image: Image, asked: Asked) -> list[tuple[Acl, Uuid]]:
    """The ACLs that a filter asks for, in order."""
    return sorted((acl, id) for id, acl in image.acls.items() if _matches(asked, acl))


def _matches(asked: Asked, acl: Acl) -> bool:
    return (
        asked.resource_type_filter in (ANY, acl.resource_type)
        and asked.operation in (ANY, acl.operation)
        and asked.permission_type in (ANY, acl.permission_type)
        and asked.principal_filter in (None, acl.principal)
        and asked.host_filter in (None, acl.host)
        and _matches_pattern(asked, acl)
    )


def _matches_pattern(asked: Asked, acl: Acl) -> bool:
    """With MATCH a name is asked for, and whatever pattern takes it is meant (KIP-290)."""
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


class Deleted(NamedTuple):
    """What one filter found, or why it was not used."""

    found: list[Acl]
    refusal: Refusal | None = None


def delete(image: Image, filters: Sequence[Asked]) -> ControllerResult[Deleted]:
    """What DeleteAcls does. Refusal(INVALID_REQUEST) for too many."""
    if len(filters) * len(image.acls) > MOST_LOOKS:
        raise _invalid(
            f"Cannot look for more than {MOST_LOOKS // len(image.acls)} filters among {len(image.acls)} acls."
        )
    gone: dict[Uuid, Message] = {}
    results, told = [], 0
    for asked in filters:
        if has_unknown(asked):
            results.append(Deleted([], _invalid(_unknown_part(asked))))
            continue
        found = matching(image, asked)
        gone |= {id: RemoveAccessControlEntryRecord(id=id) for _, id in found}
        told += len(found)
        if len(gone) > MAX_RECORDS_PER_USER_OP or told > MOST_TOLD:
            raise _invalid(f"Cannot remove more than {MAX_RECORDS_PER_USER_OP} acls in a single delete operation.")
        results.append(Deleted([acl for acl, _ in found]))
    return ControllerResult(list(gone.values()), results)


def _unknown_part(asked: Asked) -> str:
    names = _name(RESOURCE_TYPES, asked.resource_type_filter), _name(PATTERN_TYPES, asked.pattern_type_filter)
    return "Unknown patternFilter." if "UNKNOWN" in names else "Unknown entryFilter."


def _name(names: Sequence[str], number: int) -> str:
    return names[number] if 0 <= number < len(names) else names[UNKNOWN]


def _invalid(message: str) -> Refusal:
    return Refusal(error_codes.INVALID_REQUEST, message)
