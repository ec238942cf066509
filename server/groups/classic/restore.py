"""A classic group made again of its GroupMetadata record, when its partition is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.group_metadata_record import GroupMetadataValue

from .group import ClassicGroup
from .member import Member
from .state import State

if TYPE_CHECKING:
    from ..shard import GroupShard


def restore(shard: GroupShard, group_id: str, value: GroupMetadataValue) -> ClassicGroup:
    """The group that a record tells of: stable, or empty; of each member's protocols the record has only the chosen one."""
    group = ClassicGroup(shard, group_id, state=State.STABLE if value.members else State.EMPTY)
    group.state_since = value.current_state_timestamp
    group.protocol_type, group.protocol = value.protocol_type or None, value.protocol
    group.generation, group.leader = value.generation, value.leader
    for member in value.members:
        group.add(_restored(member, value.protocol or ""))
    group.note_subscriptions()
    return group


def _restored(member: GroupMetadataValue.MemberMetadata, protocol: str) -> Member:
    timeout = member.session_timeout if member.rebalance_timeout == -1 else member.rebalance_timeout
    return Member(
        member.member_id,
        member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        session_timeout=member.session_timeout,
        rebalance_timeout=timeout,
        protocols={protocol: bytes(member.subscription)},
        assignment=bytes(member.assignment),
    )
