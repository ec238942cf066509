"""The transitions between the states of a replica, and what is persisted before each (KIP-595,
KIP-853, KIP-996).

    from \\ to     Unattached  Prospective  Candidate  Leader  Follower  Resigned
    Unattached    later epoch, timeout      alone      -       found     -
                  or a vote
    Prospective   lost        -            pre-vote   -       found     -
    Candidate     later epoch timeout      -          elected found     -
    Follower      later epoch timeout      -          -       later     -
    Leader        later epoch -            -          -       later     resigns
    Resigned      later epoch -            alone      -       later     -

The epoch never falls. A vote, a leader and an epoch are persisted before the state changes; a
ProspectiveState persists nothing, because it promises nothing. A transition drops the requests in
flight, and wakes the requests that wait for the old leader.

Kafka's voters all wait the same fetch timeout for their leader. Here each follower draws its own,
up to an eighth longer: followers that lose a leader at the same time do not become candidates at
the same time and split the votes. Candidates that split them anyway retry after a part of
`controller.quorum.election.backoff.max.ms`, not after a whole election timeout.

States that a sole voter never has are imported when they are first entered.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import UsageError

from .candidate_state import CandidateState
from .epoch_election import EpochElection
from .leader_state import LeaderState
from .quorum_state import ElectionState
from .replica_key import ReplicaKey
from .unattached_state import UnattachedState
from .voters import VoterEndpoint

if TYPE_CHECKING:
    from .follower_state import FollowerState
    from .raft_replica import RaftReplica, State

logger = ClientLog("kafkadouble.server.raft")

CHECK_QUORUM_FACTOR = 1.5
FETCH_TIMEOUT_JITTER_SHARE = 8
"""The fetch timeouts of followers differ by up to this part (1/8). That is many round trips, and
leaves enough of half a fetch timeout for three elections.
"""
CONTESTED_BACKOFF_SHARE = 4
"""A candidate that lost votes to another one retries within this part (1/4) of the maximum election
backoff.
"""


def election_timeout(replica: RaftReplica) -> int:
    """Random, so that two voters rarely become candidates at the same time."""
    base = replica.settings.election_timeout_ms
    return base + replica.random.randrange(max(1, base))


def contested_backoff(replica: RaftReplica) -> int:
    """The backoff of a candidate that lost votes to another one."""
    return replica.random.randrange(max(1, replica.settings.election_backoff_max_ms // CONTESTED_BACKOFF_SHARE))


def starting_state(replica: RaftReplica, election: ElectionState) -> State:
    """The state after a start: by the persisted election state, or by the log if its epoch is
    later.
    """
    now, last = replica.now, replica.log.last_epoch
    if last > election.epoch:
        election = ElectionState(last)
    if replica.is_voter and election.leader_id == replica.key.id:
        from .resigned_state import ResignedState

        return ResignedState(election.epoch, now + election_timeout(replica), replica.key.id, replica.endpoints)
    if replica.is_voter and election.leader_id is None and _is_own(replica, election.voted):
        return _candidate(replica, election.epoch)
    voters, name = replica.voters, replica.listener_name
    leader = election.leader_id
    if leader not in (None, replica.key.id) and voters.endpoint(leader, name) is not None:
        return _follower(replica, election.epoch, leader, voters.endpoints_of(leader), election.voted)
    return UnattachedState(election.epoch, now + election_timeout(replica), leader, election.voted)


def _is_own(replica: RaftReplica, voted: ReplicaKey | None) -> bool:
    return voted is not None and replica.key.fits(voted)


def to_unattached(
    replica: RaftReplica, epoch: int, leader_id: int | None = None, voted: ReplicaKey | None = None
) -> None:
    """A later epoch, a vote in it, or a leader that cannot be reached."""
    before = replica.state
    _check(epoch >= before.epoch, f"epoch {epoch} after {before.epoch}")
    deadline = replica.now + election_timeout(replica)
    if epoch == before.epoch:
        voted = voted or before.voted
        if isinstance(before, UnattachedState):
            deadline = before.deadline  # a vote does not delay its own election
    _persist(replica, epoch, leader_id, voted)
    _enter(replica, UnattachedState(epoch, deadline, leader_id, voted))


def vote_for(replica: RaftReplica, candidate: ReplicaKey) -> None:
    """Gives the vote of this epoch. Only a voter without a leader has one."""
    from .prospective_state import ProspectiveState

    state = replica.state
    _check(isinstance(state, UnattachedState | ProspectiveState), f"{state!r} votes")
    if state.voted is None and isinstance(state, UnattachedState | ProspectiveState):
        _persist(replica, state.epoch, state.leader_id, candidate)
        state.voted = candidate
        state.deadline = replica.now + election_timeout(replica)


def to_prospective(replica: RaftReplica) -> None:
    """The leader is silent, or there is none."""
    from .prospective_state import ProspectiveState

    before = replica.state
    _check(
        replica.is_needed and not isinstance(before, LeaderState | ProspectiveState), f"{before!r} asks for pre-votes"
    )
    epoch_election = EpochElection(replica.voters)
    epoch_election.record(replica.key.id, True)
    _enter(
        replica,
        ProspectiveState(
            before.epoch,
            replica.now + election_timeout(replica),
            epoch_election,
            before.leader_id,
            before.leader_endpoints,
            before.voted,
        ),
    )


def to_candidate(replica: RaftReplica, consenting: Iterable[ReplicaKey] = ()) -> None:
    """Starts a new epoch with a vote for itself. `consenting` are the voters that granted
    pre-votes.
    """
    _check(
        replica.is_needed and not isinstance(replica.state, LeaderState | CandidateState), f"{replica.state!r} stands"
    )
    epoch = replica.state.epoch + 1
    alone = replica.voters.is_only(replica.key)
    if not alone:  # a sole voter persists its leadership at once instead
        _persist(replica, epoch, None, replica.key)
    _enter(replica, _candidate(replica, epoch, frozenset(key.id for key in consenting)))


def _candidate(replica: RaftReplica, epoch: int, consenting: frozenset[int] = frozenset()) -> CandidateState:
    epoch_election = EpochElection(replica.voters)
    epoch_election.record(replica.key.id, True)
    return CandidateState(epoch, replica.now + election_timeout(replica), epoch_election, replica.key, consenting)


def to_leader(replica: RaftReplica) -> LeaderState:
    """A majority has voted for this candidate."""
    state, now = replica.state, replica.now
    _check(isinstance(state, CandidateState) and state.epoch_election.is_won, f"{state!r} leads")
    _persist(replica, state.epoch, replica.key.id, None)
    check_at = now + check_quorum_timeout(replica)
    end = replica.log.end_offset
    leader = LeaderState(replica.key, state.epoch, end, replica.endpoints, check_at, begin_at=now)
    leader.set_voters(replica.voters)
    if replica.key.id in leader.voters:
        leader.voters[replica.key.id].acknowledged = True
    _enter(replica, leader)
    return leader


def to_follower(replica: RaftReplica, epoch: int, leader_id: int, endpoints: Mapping[str, VoterEndpoint]) -> None:
    """The leader and its endpoint are known."""
    from .resigned_state import ResignedState

    before = replica.state
    _check(epoch >= before.epoch and leader_id != replica.key.id, f"{before!r} follows {leader_id} in {epoch}")
    if epoch == before.epoch:
        _check(before.leader_id in (None, leader_id), f"{before!r} follows {leader_id}")
        _check(not isinstance(before, LeaderState | ResignedState), f"{before!r} follows in its own epoch")
    voted = before.voted if epoch == before.epoch else None
    _persist(replica, epoch, leader_id, voted)
    _enter(replica, _follower(replica, epoch, leader_id, endpoints, voted))


def _follower(
    replica: RaftReplica,
    epoch: int,
    leader_id: int,
    endpoints: Mapping[str, VoterEndpoint],
    voted: ReplicaKey | None,
) -> FollowerState:
    from .follower_state import FollowerState

    # Random for each leader, so that followers rarely become candidates at the same time.
    timeout = replica.settings.fetch_timeout_ms
    now, waits = replica.now, timeout + replica.random.randrange(max(1, timeout // FETCH_TIMEOUT_JITTER_SHARE))
    update_at = now + replica.settings.fetch_timeout_ms
    return FollowerState(epoch, leader_id, endpoints, waits, now + waits, update_at, voted)


def to_resigned(replica: RaftReplica) -> None:
    """Stops leading in its own epoch."""
    from .resigned_state import ResignedState

    leader = replica.state
    _check(isinstance(leader, LeaderState), f"{leader!r} resigns")
    if not isinstance(leader, LeaderState):
        return
    others = [id for id in leader.voters if id != replica.key.id]
    deadline = replica.now + election_timeout(replica)
    resigned = ResignedState(
        leader.epoch, deadline, replica.key.id, replica.endpoints, set(others), leader.successors()
    )
    _enter(replica, resigned)


def check_quorum_timeout(replica: RaftReplica) -> int:
    return int(replica.settings.fetch_timeout_ms * CHECK_QUORUM_FACTOR)


def _persist(replica: RaftReplica, epoch: int, leader_id: int | None, voted: ReplicaKey | None) -> None:
    replica.persist(ElectionState(epoch, leader_id, voted))


def _enter(replica: RaftReplica, state: State) -> None:
    before, replica.state = replica.state, state
    alone = replica.voters.is_only(replica.key)  # no other node is affected
    logger.log(logging.DEBUG if alone else logging.INFO, "replica %s: %r after %r", replica.key.id, state, before)
    if isinstance(before, LeaderState) and before.change is not None:
        before.change.give_up()
    if replica.snapshots is not None:
        replica.snapshots.drop()
    replica.links.reset()
    replica.outgoing.clear()
    replica.parked.wake_all()


def _check(holds: bool, what: str) -> None:
    if not holds:
        raise UsageError(f"this may not be: {what}")
