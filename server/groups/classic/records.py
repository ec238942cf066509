"""GroupMetadata records: a classic group in `__consumer_offsets`, written and read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.group_metadata_record import GroupMetadataKey, GroupMetadataValue

from ...coordinator.coordinator_record import CoordinatorRecord
from .member import ClassicGroupMember

if TYPE_CHECKING:
    from .membership import ClassicGroupMembership

VALUE_VERSION = 3
"""The version that Kafka 4.4 writes. Version 4 is only read."""


def group_metadata_record(group: ClassicGroupMembership, assignments: Mapping[str, bytes]) -> CoordinatorRecord:
    """Returns the record of the group; `assignments` maps member id -> assignment."""
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation_id,
        protocol=group.protocol_name,
        leader=group.leader_id,
        current_state_timestamp=group.current_state_timestamp,
        members=[
            _member_metadata(member, group.protocol_name, assignments.get(member.member_id, b""))
            for member in group.members.values()
        ],
    )
    return CoordinatorRecord(GroupMetadataKey(group=group.group_id), value, VALUE_VERSION)


def empty_group_metadata_record(group: ClassicGroupMembership) -> CoordinatorRecord:
    """Returns the record of a new group without members."""
    value = GroupMetadataValue(
        protocol_type="",
        generation=0,
        protocol=None,
        leader=None,
        current_state_timestamp=group.current_state_timestamp,
    )
    return CoordinatorRecord(GroupMetadataKey(group=group.group_id), value, VALUE_VERSION)


def group_metadata_tombstone(group_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(GroupMetadataKey(group=group_id), None)


def _member_metadata(
    member: ClassicGroupMember, protocol_name: str | None, assignment: bytes
) -> GroupMetadataValue.MemberMetadata:
    assert protocol_name is not None
    return GroupMetadataValue.MemberMetadata(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout=member.rebalance_timeout_ms,
        session_timeout=member.session_timeout_ms,
        subscription=member.supported_protocols[protocol_name],
        assignment=assignment,
    )


def members_of(value: GroupMetadataValue) -> list[ClassicGroupMember]:
    """Returns the members of a loaded record. Of each member's protocols it has the selected
    one."""
    return [_member_of(member, value.protocol or "") for member in value.members]


def _member_of(member: GroupMetadataValue.MemberMetadata, protocol_name: str) -> ClassicGroupMember:
    timeout_ms = member.session_timeout if member.rebalance_timeout == -1 else member.rebalance_timeout
    return ClassicGroupMember(
        member.member_id,
        member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        session_timeout_ms=member.session_timeout,
        rebalance_timeout_ms=timeout_ms,
        supported_protocols={protocol_name: bytes(member.subscription)},
        assignment=bytes(member.assignment),
    )
