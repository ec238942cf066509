"""JoinGroup and SyncGroup answers of a classic group, as the newest version has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.join_group import JoinGroupResponse
from kafkadouble.messages.generated.sync_group import SyncGroupResponse

if TYPE_CHECKING:
    from .group import ClassicGroup
    from .member import Member


def joined(group: ClassicGroup, member: Member, *, skip_assignment: bool = False) -> JoinGroupResponse:
    """This generation, for a member of it; only the leader is told who else is in it."""
    assert group.leader is not None
    return JoinGroupResponse(
        generation_id=group.generation,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol,
        leader=group.leader,
        skip_assignment=skip_assignment,
        member_id=member.id,
        members=everybody(group) if group.leader == member.id else (),
    )


def everybody(group: ClassicGroup) -> list[JoinGroupResponse.JoinGroupResponseMember]:
    """The members, with their metadata for the chosen protocol."""
    assert group.protocol is not None
    return [
        JoinGroupResponse.JoinGroupResponseMember(
            member_id=member.id, group_instance_id=member.instance_id, metadata=member.protocols[group.protocol]
        )
        for member in group.members.values()
    ]


def assigned(group: ClassicGroup, member: Member) -> SyncGroupResponse:
    """The member's assignment in this generation."""
    return SyncGroupResponse(
        protocol_type=group.protocol_type, protocol_name=group.protocol, assignment=member.assignment
    )
