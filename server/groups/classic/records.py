"""GroupMetadata records: what of a classic group is in `__consumer_offsets`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.group_metadata_record import GroupMetadataKey, GroupMetadataValue

from ...coordinator.record import CoordinatorRecord

if TYPE_CHECKING:
    from .group import ClassicGroup
    from .member import Member

VALUE_VERSION = 3
"""What Kafka 4.4 writes; version 4 is only read."""


def group_record(group: ClassicGroup, assignments: Mapping[str, bytes]) -> CoordinatorRecord:
    """The group as it is, with the given assignments by member id; a member without one has none."""
    return _record(
        group, [_member(group, member, assignments.get(member.id, b"")) for member in group.members.values()]
    )


def new_group_record(group: ClassicGroup) -> CoordinatorRecord:
    """That there is such a group, and nobody in it yet."""
    value = GroupMetadataValue(
        protocol_type="", generation=0, protocol=None, leader=None, current_state_timestamp=group.state_since
    )
    return CoordinatorRecord(GroupMetadataKey(group=group.id), value, VALUE_VERSION)


def group_tombstone(group_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(GroupMetadataKey(group=group_id), None)


def _record(group: ClassicGroup, members: list[GroupMetadataValue.MemberMetadata]) -> CoordinatorRecord:
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation,
        protocol=group.protocol,
        leader=group.leader,
        current_state_timestamp=group.state_since,
        members=members,
    )
    return CoordinatorRecord(GroupMetadataKey(group=group.id), value, VALUE_VERSION)


def _member(group: ClassicGroup, member: Member, assignment: bytes) -> GroupMetadataValue.MemberMetadata:
    assert group.protocol is not None
    return GroupMetadataValue.MemberMetadata(
        member_id=member.id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout=member.rebalance_timeout,
        session_timeout=member.session_timeout,
        subscription=member.protocols[group.protocol],
        assignment=assignment,
    )
