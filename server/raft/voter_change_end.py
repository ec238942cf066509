"""Ends a change of the voters: it is committed, or its time is up (KIP-853)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes

if TYPE_CHECKING:
    from .leader_state import LeaderState
    from .raft_replica import RaftReplica


def committed(replica: RaftReplica, leader: LeaderState) -> None:
    """Called when the high watermark moves: it may pass a change of the voters."""
    change, high_watermark = leader.change, leader.high_watermark
    if change is not None and high_watermark is not None and 0 <= change.offset < high_watermark:
        leader.change = None
        change.finish()
    at = replica.log.history.voters_offset
    if not replica.is_voter and high_watermark is not None and at < high_watermark:
        leader.resigning = True  # its removal is committed


def expire(replica: RaftReplica, leader: LeaderState) -> None:
    """Ends a change whose time is up. Its record stays in the log, and may still be committed."""
    if leader.change is not None and replica.now >= leader.change.expires:
        finish(leader, error_codes.REQUEST_TIMED_OUT, None)


def finish(leader: LeaderState, code: int, message: str | None) -> None:
    """Ends the pending change with a result."""
    change, leader.change = leader.change, None
    if change is not None:
        change.finish(code, message)
