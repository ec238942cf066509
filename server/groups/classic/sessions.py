"""Sessions of a classic group's members: a member that is not heard of for its session timeout is out.

Rules. A heartbeat, a join, a sync and a commit all count as a sign of life. One who waits for our answer owes none, except a new member: its
connection is not watched, so its first JoinGroup gets five minutes in all. A member id that was handed out is given up after one session
timeout, if nobody joins with it (KIP-394).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .group import ClassicGroup
    from .member import Member

NEW_MEMBER_JOIN_TIMEOUT = 5 * 60 * 1000
"""How long (ms) a new member may wait for the end of a rebalance; fixed in Kafka."""


def keep(group: ClassicGroup, member: Member, timeout: int | None = None) -> None:
    """A sign of life: count the member's session timeout, or `timeout` ms, from now on."""
    member.end_session()
    delay = member.session_timeout if timeout is None else timeout
    member.session = group.shard.at(delay, lambda now: _expire(group, member))


def _expire(group: ClassicGroup, member: Member) -> None:
    member.session = None
    if not member.is_excused:
        group.lose(member)


def await_pending(group: ClassicGroup, member_id: str, timeout: int) -> None:
    """An id was handed out: whoever got it has `timeout` ms to join with it."""
    group.pending_joins[member_id] = group.shard.at(timeout, lambda now: group.give_up(member_id))
