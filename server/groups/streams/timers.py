"""The timers of a streams group (KIP-1071).

    session             the member sent no heartbeat for its session timeout
    rebalance           the member did not revoke its tasks within its rebalance timeout
    initial-rebalance   a group that was empty waits for more members before it assigns

When one of the first two runs out, the member is fenced: the group goes on without it.
"""

from __future__ import annotations

from functools import partial

from kafkadouble.wire.client_log import ClientLog

from ...requests.request import Refusal
from ..group_coordinator_shard import GroupCoordinatorShard
from .members.streams_group_member import StreamsGroupMember
from .members.streams_member_state import StreamsMemberState
from .membership import StreamsGroupMembership

SESSION, REBALANCE, INITIAL_REBALANCE = "session", "rebalance", "initial-rebalance"

log = ClientLog("kafkadouble.server.groups")


def schedule_session(group: StreamsGroupMembership, member_id: str) -> None:
    """Restarts the session of a member."""
    timeout_ms = group.shard.int_group_config(group.group_id, "streams.session.timeout.ms")
    fence = partial(_fence, group.shard, group.group_id, member_id, "the member session expired")
    group.shard.timers.schedule((SESSION, group.group_id, member_id), timeout_ms, fence)


def set_rebalance(group: StreamsGroupMembership, member: StreamsGroupMember) -> None:
    """A member that must revoke tasks has its rebalance timeout for it; for others it ends."""
    key, timeout_ms = (REBALANCE, group.group_id, member.member_id), member.rebalance_timeout_ms
    if member.state is not StreamsMemberState.UNREVOKED_TASKS:
        group.shard.timers.cancel(key)
        return
    fence = partial(_fence_if_in_epoch, group.shard, group.group_id, member)
    group.shard.timers.schedule(key, timeout_ms, fence)


def schedule_initial_rebalance(group: StreamsGroupMembership, delay_ms: int) -> None:
    """Assigns tasks after the delay, unless the group waits already."""
    assign = partial(_assign, group.shard, group.group_id)
    group.shard.timers.schedule_if_absent((INITIAL_REBALANCE, group.group_id), delay_ms, assign)


def awaits_initial_rebalance(group: StreamsGroupMembership) -> bool:
    """Returns whether the group waits for more members."""
    return group.shard.timers.is_scheduled((INITIAL_REBALANCE, group.group_id))


def cancel_member(group: StreamsGroupMembership, member_id: str) -> None:
    for kind in (SESSION, REBALANCE):
        group.shard.timers.cancel((kind, group.group_id, member_id))


def schedule_all(group: StreamsGroupMembership) -> None:
    """Starts the timers of a group that was loaded."""
    for member in group.members.values():
        schedule_session(group, member.member_id)
        set_rebalance(group, member)


def _streams_group(shard: GroupCoordinatorShard, group_id: str) -> StreamsGroupMembership | None:
    group = shard.groups.get(group_id)
    return group if isinstance(group, StreamsGroupMembership) else None


def _fence(shard: GroupCoordinatorShard, group_id: str, member_id: str, reason: str) -> None:
    group = _streams_group(shard, group_id)
    if group is not None and member_id in group.members:
        log.info("streams group %s: member %s is fenced: %s", group_id, member_id, reason)
        group.fence_member(group.members[member_id])


def _fence_if_in_epoch(shard: GroupCoordinatorShard, group_id: str, member: StreamsGroupMember) -> None:
    group = _streams_group(shard, group_id)
    found = None if group is None else group.members.get(member.member_id)
    if found is not None and found.member_epoch == member.member_epoch:
        reason = f"it did not leave epoch {member.member_epoch} within {member.rebalance_timeout_ms} ms"
        _fence(shard, group_id, member.member_id, reason)


def _assign(shard: GroupCoordinatorShard, group_id: str) -> None:
    """Assigns tasks to the members that have joined. A heartbeat does it if this fails."""
    group = _streams_group(shard, group_id)
    if group is None or group.is_empty:
        return
    try:
        group.end_initial_rebalance()
    except Refusal as refusal:
        log.warning("streams group %s: no assignment after its initial delay: %s", group_id, refusal.message)
