"""What DescribeGroups shows of a classic group. Only a stable group has a protocol and metadata to show."""

from __future__ import annotations

from kafkadouble.messages.generated.describe_groups import DescribeGroupsResponse

from .group import ClassicGroup
from .member import Member
from .state import State

Described = DescribeGroupsResponse.DescribedGroup
DescribedMember = DescribeGroupsResponse.DescribedGroupMember


def described(group: ClassicGroup) -> Described:
    protocol = group.protocol if group.state is State.STABLE else None
    return Described(
        group_id=group.id,
        group_state=group.state_name,
        protocol_type=group.protocol_type or "",
        protocol_data=protocol or "",
        members=[_described(member, protocol) for member in group.members.values()],
    )


def _described(member: Member, protocol: str | None) -> DescribedMember:
    return DescribedMember(
        member_id=member.id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        member_metadata=b"" if protocol is None else member.protocols[protocol],
        member_assignment=member.assignment,
    )
