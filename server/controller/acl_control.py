"""CreateAcls and DeleteAcls (KIP-11, KIP-140, KIP-290).

As in Kafka, an ACL with the numbers of a filter (ANY, MATCH) fails the whole request. An ACL that
exists is not written again, and is no error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.access_control_entry_record import AccessControlEntryRecord
from kafkadouble.messages.generated.create_acls import CreateAclsRequest
from kafkadouble.messages.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..metadata.features import METADATA_VERSION
from ..metadata.image import Acl, Image
from ..metadata.metadata_versions import NAMES
from ..metadata.record_versions import CIDR, NEWEST
from ..requests.request import Refusal
from ..requests.slices import ordered
from ..requests.waiting import OTHERS_FIRST, Slices, Wait, sliced
from ..security import cidr
from ..security.acl_filter_index import AclFilterIndex
from ..security.acls import (
    ANY,
    CLUSTER,
    CLUSTER_NAME,
    EVERY_HOST,
    MATCH,
    OPERATIONS,
    PATTERN_TYPES,
    PERMISSION_TYPES,
    RESOURCE_TYPES,
    AclFilter,
    has_unknown,
    name_of,
)
from .controller_result import MAX_RECORDS_PER_USER_OP, ControllerResult, check_size

MAX_RESULTS = 50_000
"""The most ACLs in one answer, over all filters."""

Creation = CreateAclsRequest.AclCreation


def create_acls(
    image: Image, creations: Sequence[Creation], new_id: Callable[[], Uuid]
) -> Wait[ControllerResult[Refusal | None]]:
    """Handles CreateAcls, in slices: None for each ACL that exists afterwards, or its refusal.
    Refusal(UNKNOWN_SERVER_ERROR) if one is a filter, (POLICY_VIOLATION) for too many.
    """
    if any(map(_is_filter, creations)):
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    existing, slices = set[Acl](), Slices()
    yield from sliced(existing.add, image.acls.values())
    records: list[Message] = []
    results: list[Refusal | None] = []
    for creation in creations:
        if slices.end():
            yield OTHERS_FIRST
        try:
            _check_acl(image, acl := _acl(creation))
        except Refusal as refusal:
            results.append(refusal)
            continue
        if acl not in existing:
            existing.add(acl)
            # An id that no ACL has, whatever `new_id` returns.
            while (id := new_id()) in image.acls:
                pass
            records.append(AccessControlEntryRecord(id=id, **acl._asdict()))
            check_size(len(records))
        results.append(None)
    return ControllerResult(records, results)


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
        if name_of(names, number) == "UNKNOWN":
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


class AclDeleteResult(NamedTuple):
    """The ACLs that a filter matched, or its refusal."""

    found: list[Acl]
    refusal: Refusal | None = None


def delete_acls(
    image: Image, filters: Sequence[AclFilter]
) -> Wait[tuple[list[RemoveAccessControlEntryRecord], list[AclDeleteResult]]]:
    """Handles DeleteAcls, in slices. Refusal(INVALID_REQUEST) for too many ACLs."""
    in_order = yield from ordered((acl, id) for id, acl in image.acls.items())
    index, slices, steps = AclFilterIndex({id: acl for acl, id in in_order}), Slices(), 0
    removals: dict[Uuid, RemoveAccessControlEntryRecord] = {}
    results, matched = [], 0
    for acl_filter in filters:
        if has_unknown(acl_filter):
            result = AclDeleteResult([], _invalid(_unknown_part(acl_filter)))
        else:
            found = index.matching(acl_filter)
            removals |= {id: RemoveAccessControlEntryRecord(id=id) for _, id in found if id not in removals}
            result = AclDeleteResult([acl for acl, _ in found])
        results.append(result)
        matched += len(result.found)
        if len(removals) > MAX_RECORDS_PER_USER_OP or matched > MAX_RESULTS:
            raise _invalid(f"Cannot remove more than {MAX_RECORDS_PER_USER_OP} acls in a single delete operation.")
        done, steps = steps, index.steps + matched + len(results)
        if slices.end(steps - done):
            yield OTHERS_FIRST
    return [*removals.values()], results


def _unknown_part(acl_filter: AclFilter) -> str:
    names = (
        name_of(RESOURCE_TYPES, acl_filter.resource_type_filter),
        name_of(PATTERN_TYPES, acl_filter.pattern_type_filter),
    )
    return "Unknown patternFilter." if "UNKNOWN" in names else "Unknown entryFilter."


def _invalid(message: str) -> Refusal:
    return Refusal(error_codes.INVALID_REQUEST, message)
