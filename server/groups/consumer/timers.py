"""The timers of the members of a consumer group.

    session     the member sent no heartbeat for its session timeout
    rebalance   the member did not revoke its partitions within its rebalance timeout
    join, sync  a classic member did not send JoinGroup or SyncGroup within its rebalance timeout

When one runs out, the member is fenced: the group goes on without it.
"""

from __future__ import annotations

from functools import partial

from kafkadouble.messages import error_codes
from kafkadouble.wire.client_log import ClientLog

from ...requests.request import Refusal
from ..group_coordinator_shard import GroupCoordinatorShard
from ..modern.modern_group_member import MemberState
from .consumer_group_member import ConsumerGroupMember
from .membership import ConsumerGroupMembership

KINDS = SESSION, REBALANCE, JOIN, SYNC = "session", "rebalance", "join", "sync"

log = ClientLog("kafkadouble.server.groups")


def session_timeout_ms(shard: GroupCoordinatorShard, group_id: str) -> int:
    return shard.int_group_config(group_id, "consumer.session.timeout.ms")


def schedule_session(group: ConsumerGroupMembership, member: ConsumerGroupMember) -> None:
    """Restarts the session of a member: a classic one has its own session timeout."""
    classic = member.classic_member_metadata
    timeout_ms = session_timeout_ms(group.shard, group.group_id) if classic is None else classic.session_timeout_ms
    _schedule(group.shard, SESSION, group.group_id, member.member_id, timeout_ms, "the member session expired")


def schedule_join(group: ConsumerGroupMembership, member: ConsumerGroupMember) -> None:
    """A classic member must join again; the time runs since the first time that it was refused."""
    reason = "the classic member failed to join within the rebalance timeout"
    fence = partial(_fence, group.shard, group.group_id, member.member_id, reason)
    timeout_ms = member.rebalance_timeout_ms
    group.shard.timers.schedule_if_absent((JOIN, group.group_id, member.member_id), timeout_ms, fence)


def schedule_sync(group: ConsumerGroupMembership, member: ConsumerGroupMember) -> None:
    """A classic member has joined and must send SyncGroup."""
    reason = "the member failed to sync within timeout"
    _schedule(group.shard, SYNC, group.group_id, member.member_id, member.rebalance_timeout_ms, reason)


def schedule_rebalance(group: ConsumerGroupMembership, member: ConsumerGroupMember) -> None:
    """A member must revoke partitions in time, or only advance."""
    key, epoch, timeout_ms = (
        (REBALANCE, group.group_id, member.member_id),
        member.member_epoch,
        member.rebalance_timeout_ms,
    )
    fence = partial(_fence_if_in_epoch, group.shard, group.group_id, member.member_id, epoch, timeout_ms)
    group.shard.timers.schedule(key, timeout_ms, fence)


def cancel(group: ConsumerGroupMembership, kind: str, member_id: str) -> None:
    group.shard.timers.cancel((kind, group.group_id, member_id))


def cancel_all(group: ConsumerGroupMembership, member_id: str) -> None:
    for kind in KINDS:
        cancel(group, kind, member_id)


def schedule_all(group: ConsumerGroupMembership) -> None:
    """Starts the timers of a group that was loaded."""
    for member in group.members.values():
        timeout_ms = session_timeout_ms(group.shard, group.group_id)
        _schedule(group.shard, SESSION, group.group_id, member.member_id, timeout_ms, "the member session expired")
        if member.state is MemberState.UNREVOKED_PARTITIONS:
            schedule_rebalance(group, member)


def _schedule(
    shard: GroupCoordinatorShard, kind: str, group_id: str, member_id: str, timeout_ms: int, reason: str
) -> None:
    shard.timers.schedule((kind, group_id, member_id), timeout_ms, partial(_fence, shard, group_id, member_id, reason))


def _member(
    shard: GroupCoordinatorShard, group_id: str, member_id: str
) -> tuple[ConsumerGroupMembership, ConsumerGroupMember] | None:
    group = shard.groups.get(group_id)
    member = group.members.get(member_id) if isinstance(group, ConsumerGroupMembership) else None
    return None if member is None or not isinstance(group, ConsumerGroupMembership) else (group, member)


def _fence(shard: GroupCoordinatorShard, group_id: str, member_id: str, reason: str) -> None:
    if (found := _member(shard, group_id, member_id)) is not None:
        group, member = found
        log.info("%r: member %s is fenced because %s", group, member_id, reason)
        try:
            group.fence_members([member])
        except Refusal as refusal:
            # The group cannot become a classic one. As in Kafka, the member stays.
            if refusal.code != error_codes.GROUP_ID_NOT_FOUND:
                raise


def _fence_if_in_epoch(
    shard: GroupCoordinatorShard, group_id: str, member_id: str, epoch: int, timeout_ms: int
) -> None:
    member = _member(shard, group_id, member_id)
    if member is not None and member[1].member_epoch == epoch:
        _fence(shard, group_id, member_id, f"it did not leave epoch {epoch} within {timeout_ms} ms")
