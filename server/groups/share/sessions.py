"""The sessions of the members of share groups: a member without a heartbeat for its session timeout
is fenced, and the group goes on without it (KIP-932)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.wire.client_log import ClientLog

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard

SESSION = "session"

log = ClientLog("kafkadouble.server.groups")


def schedule(shard: GroupCoordinatorShard, group_id: str, member_id: str) -> None:
    """Restart the session of a member."""
    timeout_ms = shard.group_config(group_id, "share.session.timeout.ms")
    assert isinstance(timeout_ms, int)
    shard.timers.schedule((SESSION, group_id, member_id), timeout_ms, partial(_expire, shard, group_id, member_id))


def cancel(shard: GroupCoordinatorShard, group_id: str, member_id: str) -> None:
    shard.timers.cancel((SESSION, group_id, member_id))


def _expire(shard: GroupCoordinatorShard, group_id: str, member_id: str) -> None:
    from .fencing import fence_member
    from .share_group import ShareGroup

    group = shard.groups.get(group_id)
    if isinstance(group, ShareGroup) and member_id in group.members:
        log.info("%r: member %s is fenced because the member session expired", group, member_id)
        fence_member(group, group.members[member_id])
