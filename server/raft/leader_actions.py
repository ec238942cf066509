"""A leader: it starts its epoch, appends, advances the high watermark, and resigns (KIP-595).

A record is committed once a majority of voters has it; the leader's own log counts as far as it is
flushed. See `leader_state`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..log.offset_and_epoch import OffsetAndEpoch
from . import control_records, transitions, voter_change_end
from .candidate_state import CandidateState
from .control_records import Control
from .lazy_import import LazyImport
from .leader_state import LeaderState
from .replica_key import ReplicaKey
from .voter_history import BEFORE_THE_LOG
from .voters import Voter

if TYPE_CHECKING:
    from .raft_replica import RaftReplica

_send_begin_quorum_epoch = LazyImport("begin_quorum_epoch", "send_begin_quorum_epoch")


def start_epoch(replica: RaftReplica) -> None:
    """After the election: the first batch names the leader; once it is committed, so is everything
    before it.
    """
    candidate = replica.state
    granting = candidate.epoch_election.granting if isinstance(candidate, CandidateState) else []
    leader = transitions.to_leader(replica)
    replica.log.begin_epoch(leader.epoch)
    replica.log.append_control(_first_records(replica, granting), leader.epoch, replica.now)
    flush(replica, leader)


def _first_records(replica: RaftReplica, granting: Sequence[ReplicaKey]) -> list[Control]:
    """Includes the voters if the log has never named them, or names outdated data of this leader: a
    leader sends no UpdateRaftVoter to itself.
    """
    found = [control_records.leader_change(replica.key, replica.voters, granting)]
    if replica.kraft_version > 0:
        voters = replica.voters.updated(Voter(replica.key, replica.endpoints, replica.kraft_versions)) or replica.voters
        if replica.log.history.voters_offset == BEFORE_THE_LOG or voters != replica.voters:
            found += [control_records.kraft_version(replica.kraft_version), control_records.voters(voters)]
    return found


def append(replica: RaftReplica, leader: LeaderState, values: Sequence[bytes]) -> OffsetAndEpoch:
    """Appends a batch. It is flushed and counted after the linger time; a sole voter does not
    linger.
    """
    placed = replica.log.append_values(values, leader.epoch, replica.now)
    replica.parked.wake_all()
    linger = 0 if replica.voters.is_only(replica.key) else replica.settings.append_linger_ms
    if leader.flush_at is None:
        leader.flush_at = replica.now + linger
    return placed


def append_voters(replica: RaftReplica, leader: LeaderState, controls: Sequence[Control]) -> int:
    """Appends a change of the voters, which applies at once; returns the offset of its last
    record.
    """
    placed = replica.log.append_control(controls, leader.epoch, replica.now)
    leader.set_voters(replica.voters)
    leader.check_at = max(leader.check_at, replica.now + transitions.check_quorum_timeout(replica))
    flush(replica, leader)
    return placed.offset


def flush(replica: RaftReplica, leader: LeaderState) -> None:
    """Flushes the leader's own log, and counts it."""
    leader.flush_at = None
    replica.log.flush()
    own = leader.voters.get(replica.key.id)
    if own is not None:
        own.fetched(replica.log.end_offset, replica.log.end_offset, replica.now)
    replica.parked.wake_all()
    advance_high_watermark(replica, leader)


def advance_high_watermark(replica: RaftReplica, leader: LeaderState) -> None:
    """Commits what a majority has."""
    if leader.advance() and leader.high_watermark is not None:
        replica.log.commit(leader.high_watermark)
        voter_change_end.committed(replica, leader)
        replica.parked.wake_all()


def poll_leader(replica: RaftReplica, leader: LeaderState) -> int | None:
    """Does what is due; returns the time of the next poll."""
    now = replica.now
    if (
        replica.shutdown_until is not None
        or leader.resigning
        or (now >= leader.check_at and _needs_quorum_check(replica))
    ):
        resign(replica)
        return None
    if leader.flush_at is not None and leader.flush_at <= now:
        flush(replica, leader)
        if replica.state is not leader or leader.resigning:
            return now
    voter_change_end.expire(replica, leader)
    begun = None if replica.voters.is_only(replica.key) else _send_begin_quorum_epoch(replica, leader)
    checked = leader.check_at if _needs_quorum_check(replica) else None
    change = None if leader.change is None else leader.change.expires
    return min((at for at in (checked, leader.flush_at, begun, change) if at is not None), default=None)


def _needs_quorum_check(replica: RaftReplica) -> bool:
    return not replica.voters.is_only(replica.key)


def resign(replica: RaftReplica) -> None:
    """Resigns, and names preferred successors."""
    if isinstance(replica.state, LeaderState):
        transitions.to_resigned(replica)
