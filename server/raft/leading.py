"""What a leader does: opens its epoch, appends, counts who has what, and goes when it must (KIP-595).

Committed is what a majority of voters has, the leader among them only as far as its own log is flushed; see `leader`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..log.offset_and_epoch import OffsetAndEpoch
from . import change_end, control_records, transitions
from .candidate import Candidate
from .control_records import Control
from .later import Later
from .leader import Leader
from .replica_key import ReplicaKey
from .voter_history import BEFORE_THE_LOG
from .voters import Voter

if TYPE_CHECKING:
    from .replica import Replica

_make_known = Later("announcing", "make_known")


def begin(replica: Replica) -> None:
    """Elected: the first batch of the epoch says so, and with it everything before can be committed."""
    candidate = replica.state
    granting = candidate.ballot.granting if isinstance(candidate, Candidate) else []
    leader = transitions.to_leader(replica)
    replica.log.begin_epoch(leader.epoch)
    replica.log.append_control(_first_records(replica, granting), leader.epoch, replica.now)
    flush(replica, leader)


def _first_records(replica: Replica, granting: Sequence[ReplicaKey]) -> list[Control]:
    """With the voters where the log has never named them; and where it names a leader by what he was, since he is the one voter who tells
    nobody."""
    found = [control_records.leader_change(replica.key, replica.voters, granting)]
    if replica.kraft_version > 0:
        voters = replica.voters.updated(Voter(replica.key, replica.endpoints, replica.kraft_versions)) or replica.voters
        if replica.log.history.voters_offset == BEFORE_THE_LOG or voters != replica.voters:
            found += [control_records.kraft_version(replica.kraft_version), control_records.voters(voters)]
    return found


def append(replica: Replica, leader: Leader, values: Sequence[bytes]) -> OffsetAndEpoch:
    """Write a batch; it is flushed, and so counts, when the linger is over. A sole voter has nobody to wait for."""
    placed = replica.log.append_values(values, leader.epoch, replica.now)
    replica.parked.wake_all()
    linger = 0 if replica.voters.is_only(replica.key) else replica.settings.append_linger_ms
    if leader.flush_at is None:
        leader.flush_at = replica.now + linger
    return placed


def append_voters(replica: Replica, leader: Leader, controls: Sequence[Control]) -> int:
    """A change of the voters, which counts from here on; the offset of its last record."""
    placed = replica.log.append_control(controls, leader.epoch, replica.now)
    leader.set_voters(replica.voters)
    leader.check_at = max(leader.check_at, replica.now + transitions.check_quorum_timeout(replica))
    flush(replica, leader)
    return placed.offset


def flush(replica: Replica, leader: Leader) -> None:
    """Our own log outlives the machine up to here, and counts."""
    leader.flush_at = None
    replica.log.flush()
    own = leader.voters.get(replica.key.id)
    if own is not None:
        own.fetched(replica.log.end_offset, replica.log.end_offset, replica.now)
    replica.parked.wake_all()
    advance(replica, leader)


def advance(replica: Replica, leader: Leader) -> None:
    """Commit what a majority has."""
    if leader.advance() and leader.high_watermark is not None:
        replica.log.commit(leader.high_watermark)
        change_end.committed(replica, leader)
        replica.parked.wake_all()


def poll(replica: Replica, leader: Leader) -> int | None:
    """Do what is due; when something will be."""
    now = replica.now
    if replica.shutdown_until is not None or leader.resigning or (now >= leader.check_at and _can_be_deserted(replica)):
        resign(replica)
        return None
    if leader.flush_at is not None and leader.flush_at <= now:
        flush(replica, leader)
        if replica.state is not leader or leader.resigning:
            return now
    change_end.expire(replica, leader)
    begun = None if replica.voters.is_only(replica.key) else _make_known(replica, leader)
    checked = leader.check_at if _can_be_deserted(replica) else None
    change = None if leader.change is None else leader.change.expires
    return min((at for at in (checked, leader.flush_at, begun, change) if at is not None), default=None)


def _can_be_deserted(replica: Replica) -> bool:
    return not replica.voters.is_only(replica.key)


def resign(replica: Replica) -> None:
    """Lead no more, and tell the others who should."""
    if isinstance(replica.state, Leader):
        transitions.to_resigned(replica)
