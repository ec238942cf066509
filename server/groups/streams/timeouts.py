"""The time-outs of a streams group (KIP-1071): a member leaves the group when its session ends, or
when it does not revoke tasks within its rebalance time-out. The first assignment of a group that was
empty waits for more members.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from .leaving import fenced_member_records
from .streams_group_member import StreamsGroupMember
from .streams_member_state import StreamsMemberState

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard
    from .streams_group import StreamsGroup

log = logging.getLogger("kafkadouble.server.groups")

TimerKey = tuple[str, ...]


def session_key(group_id: str, member_id: str) -> TimerKey:
    return "session", group_id, member_id


def rebalance_key(group_id: str, member_id: str) -> TimerKey:
    return "rebalance", group_id, member_id


def initial_rebalance_key(group_id: str) -> TimerKey:
    return "initial-rebalance", group_id


def schedule_session(group: StreamsGroup, member_id: str) -> None:
    """Start the session of a member again."""
    shard, group_id = group.shard, group.group_id
    delay_ms = int(shard.group_config(group_id, "streams.session.timeout.ms"))

    def expire() -> None:
        _fence(shard, group_id, member_id, "its session expired")

    shard.timers.schedule(session_key(group_id, member_id), delay_ms, expire)


def schedule_rebalance_if_revoking(group: StreamsGroup, member: StreamsGroupMember) -> None:
    """Bound the time in which a member revokes tasks; end it for a member that revokes none."""
    shard, group_id, member_id, epoch = group.shard, group.group_id, member.member_id, member.member_epoch
    key = rebalance_key(group_id, member_id)
    if member.state is not StreamsMemberState.UNREVOKED_TASKS:
        shard.timers.cancel(key)
        return

    def expire() -> None:
        found = _member(shard, group_id, member_id)
        if found is not None and found.member_epoch == epoch:
            _fence(shard, group_id, member_id, f"it stayed in epoch {epoch} for {member.rebalance_timeout_ms} ms")

    shard.timers.schedule(key, member.rebalance_timeout_ms, expire)


def schedule_initial_rebalance(group: StreamsGroup, delay_ms: int, assign: Callable[[], None]) -> None:
    """Call `assign()` after the delay, unless the group waits already."""
    group.shard.timers.schedule_if_absent(initial_rebalance_key(group.group_id), delay_ms, assign)


def cancel_member(group: StreamsGroup, member_id: str) -> None:
    """Cancel the time-outs of a member that is removed."""
    group.shard.timers.cancel(session_key(group.group_id, member_id))
    group.shard.timers.cancel(rebalance_key(group.group_id, member_id))


def _streams_group(shard: GroupCoordinatorShard, group_id: str) -> StreamsGroup | None:
    from .streams_group import StreamsGroup  # it uses this module

    group = shard.groups.get(group_id)
    return group if isinstance(group, StreamsGroup) else None


def _member(shard: GroupCoordinatorShard, group_id: str, member_id: str) -> StreamsGroupMember | None:
    group = _streams_group(shard, group_id)
    return None if group is None else group.members.get(member_id)


def _fence(shard: GroupCoordinatorShard, group_id: str, member_id: str, why: str) -> None:
    group, member = _streams_group(shard, group_id), _member(shard, group_id, member_id)
    if group is None or member is None:
        return
    log.info("member %s is fenced from streams group %s because %s", member_id, group_id, why)
    shard.write(fenced_member_records(group, member))
    cancel_member(group, member_id)
