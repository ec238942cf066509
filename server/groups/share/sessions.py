"""The sessions of the members of share groups: a member without a heartbeat for its session timeout
is fenced, and the group goes on without it (KIP-932)."""

from __future__ import annotations

from functools import partial

from kafkadouble.wire.client_log import ClientLog

from ..coordinator_group import SHARE
from ..group_coordinator_shard import GroupCoordinatorShard

SESSION = "session"

log = ClientLog("kafkadouble.server.groups")


def schedule(shard: GroupCoordinatorShard, group_id: str, member_id: str) -> None:
    """Restarts the session of a member."""
    timeout_ms = shard.int_group_config(group_id, "share.session.timeout.ms")
    shard.timers.schedule((SESSION, group_id, member_id), timeout_ms, partial(_expire, shard, group_id, member_id))


def cancel(shard: GroupCoordinatorShard, group_id: str, member_id: str) -> None:
    shard.timers.cancel((SESSION, group_id, member_id))


def _expire(shard: GroupCoordinatorShard, group_id: str, member_id: str) -> None:
    group = shard.groups.get(group_id)
    if group is not None and group.type == SHARE and member_id in group.member_ids:
        log.info("%r: member %s is fenced because the member session expired", group, member_id)
        group.expire_member(member_id)
