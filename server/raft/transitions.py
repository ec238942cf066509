"""Who may become what, and what is written down on the way (KIP-595, KIP-853, KIP-996).

    from \\ to     Unattached  Prospective  Candidate  Leader  Follower  Resigned
    Unattached    later epoch, timeout      alone      -       found     -
                  or a vote
    Prospective   lost        -            pre-vote   -       found     -
    Candidate     later epoch timeout      -          elected found     -
    Follower      later epoch timeout      -          -       later     -
    Leader        later epoch -            -          -       later     asked, or alone
    Resigned      later epoch -            alone      -       later     -

The epoch never falls. A vote, a leader and an epoch are in the store before the state is: `Prospective` alone writes nothing, for it promises
nothing. A change of state drops what is under way to others, and wakes those who wait for the old leader.

Where Kafka's voters all wait the same fetch timeout for their leader, each of ours has a patience of its own, up to an eighth longer: followers
that lose a leader in one instant do not stand in one instant, and take the votes from each other. Those who do so all the same try again after
a part of `controller.quorum.election.backoff.max.ms`, not after a whole election timeout.

States that a sole voter is never in are imported by whoever is the first to be in them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kafkadouble.wire.errors import UsageError

from .ballot import Ballot
from .candidate import Candidate
from .leader import Leader
from .quorum_state import ElectionState
from .replica_key import ReplicaKey
from .unattached import Unattached
from .voters import Endpoint

if TYPE_CHECKING:
    from .follower import Follower
    from .replica import Replica, State

logger = logging.getLogger("kafkadouble.server.raft")

CHECK_QUORUM_FACTOR = 1.5
PATIENCE_SHARE = 8
"""Of the fetch timeout: by up to this part of it the patience of followers differs. It is many round trips, and leaves enough of half a fetch
timeout to stand three times."""
CONTEST_SHARE = 4
"""Of the longest election backoff: within this part of it who stood together with another tries again."""


def election_timeout(replica: Replica) -> int:
    """Drawn anew each time, so that two voters seldom stand at once."""
    base = replica.settings.election_timeout_ms
    return base + replica.random.randrange(max(1, base))


def patience(replica: Replica) -> int:
    """How long a follower waits for one leader: drawn anew for each, so that those who lose one together seldom stand together."""
    timeout = replica.settings.fetch_timeout_ms
    return timeout + replica.random.randrange(max(1, timeout // PATIENCE_SHARE))


def contest_backoff(replica: Replica) -> int:
    """How long who stood together with another waits until it asks again."""
    return replica.random.randrange(max(1, replica.settings.election_backoff_max_ms // CONTEST_SHARE))


def starting_state(replica: Replica, election: ElectionState) -> State:
    """What a replica is that has just been started, by what it had written down, and by its log where that has gone further."""
    now, last = replica.now, replica.log.last_epoch
    if last > election.epoch:
        election = ElectionState(last)
    if replica.is_voter and election.leader_id == replica.key.id:
        from .resigned import Resigned

        return Resigned(election.epoch, now + election_timeout(replica), replica.key.id, replica.endpoints)
    if replica.is_voter and election.leader_id is None and _is_own(replica, election.voted):
        return _candidate(replica, election.epoch)
    voters, name = replica.voters, replica.listener_name
    leader = election.leader_id
    if leader not in (None, replica.key.id) and voters.endpoint(leader, name) is not None:
        return _follower(replica, election.epoch, leader, voters.endpoints_of(leader), election.voted)
    return Unattached(election.epoch, now + election_timeout(replica), leader, election.voted)


def _is_own(replica: Replica, voted: ReplicaKey | None) -> bool:
    return voted is not None and replica.key.fits(voted)


def to_unattached(replica: Replica, epoch: int, leader_id: int | None = None, voted: ReplicaKey | None = None) -> None:
    """A later epoch, or a vote in it, or a leader that cannot be reached."""
    before = replica.state
    _check(epoch >= before.epoch, f"epoch {epoch} after {before.epoch}")
    deadline = replica.now + election_timeout(replica)
    if epoch == before.epoch:
        voted = voted or before.voted
        if isinstance(before, Unattached):
            deadline = before.deadline  # a vote does not put the own turn off
    _keep(replica, epoch, leader_id, voted)
    _enter(replica, Unattached(epoch, deadline, leader_id, voted))


def vote_for(replica: Replica, candidate: ReplicaKey) -> None:
    """Give the vote of this epoch. Only one that follows nobody has it to give."""
    from .prospective import Prospective

    state = replica.state
    _check(isinstance(state, Unattached | Prospective), f"{state!r} votes")
    if state.voted is None and isinstance(state, Unattached | Prospective):
        _keep(replica, state.epoch, state.leader_id, candidate)
        state.voted = candidate
        state.deadline = replica.now + election_timeout(replica)


def to_prospective(replica: Replica) -> None:
    """The leader is silent, or there is none."""
    from .prospective import Prospective

    before = replica.state
    _check(replica.is_needed and not isinstance(before, Leader | Prospective), f"{before!r} asks for pre-votes")
    ballot = Ballot(replica.voters)
    ballot.record(replica.key.id, True)
    _enter(
        replica,
        Prospective(
            before.epoch,
            replica.now + election_timeout(replica),
            ballot,
            before.leader_id,
            before.leader_endpoints,
            before.voted,
        ),
    )


def to_candidate(replica: Replica, consenting: Iterable[ReplicaKey] = ()) -> None:
    """A new epoch, and the own vote in it. Consenting are those who granted a pre-vote."""
    _check(replica.is_needed and not isinstance(replica.state, Leader | Candidate), f"{replica.state!r} stands")
    epoch = replica.state.epoch + 1
    alone = replica.voters.is_only(replica.key)
    if not alone:  # else nobody hears of it before that of the leader, which is kept at once
        _keep(replica, epoch, None, replica.key)
    _enter(replica, _candidate(replica, epoch, frozenset(key.id for key in consenting)))


def _candidate(replica: Replica, epoch: int, consenting: frozenset[int] = frozenset()) -> Candidate:
    ballot = Ballot(replica.voters)
    ballot.record(replica.key.id, True)
    return Candidate(epoch, replica.now + election_timeout(replica), ballot, replica.key, consenting)


def to_leader(replica: Replica) -> Leader:
    """Elected: a majority has voted, in this epoch."""
    state, now = replica.state, replica.now
    _check(isinstance(state, Candidate) and state.ballot.is_won, f"{state!r} leads")
    _keep(replica, state.epoch, replica.key.id, None)
    check_at = now + check_quorum_timeout(replica)
    end = replica.log.end_offset
    leader = Leader(replica.key, state.epoch, end, replica.endpoints, check_at, begin_at=now)
    leader.set_voters(replica.voters)
    if replica.key.id in leader.voters:
        leader.voters[replica.key.id].acknowledged = True
    _enter(replica, leader)
    return leader


def to_follower(replica: Replica, epoch: int, leader_id: int, endpoints: Mapping[str, Endpoint]) -> None:
    """A leader is known, and where it is."""
    from .resigned import Resigned

    before = replica.state
    _check(epoch >= before.epoch and leader_id != replica.key.id, f"{before!r} follows {leader_id} in {epoch}")
    if epoch == before.epoch:
        _check(before.leader_id in (None, leader_id), f"{before!r} follows {leader_id}")
        _check(not isinstance(before, Leader | Resigned), f"{before!r} follows in its own epoch")
    voted = before.voted if epoch == before.epoch else None
    _keep(replica, epoch, leader_id, voted)
    _enter(replica, _follower(replica, epoch, leader_id, endpoints, voted))


def _follower(
    replica: Replica, epoch: int, leader_id: int, endpoints: Mapping[str, Endpoint], voted: ReplicaKey | None
) -> Follower:
    from .follower import Follower

    now, waits = replica.now, patience(replica)
    update_at = now + replica.settings.fetch_timeout_ms
    return Follower(epoch, leader_id, endpoints, waits, now + waits, update_at, voted)


def to_resigned(replica: Replica) -> None:
    """Lead no more, in an epoch that stays its own."""
    from .resigned import Resigned

    leader = replica.state
    _check(isinstance(leader, Leader), f"{leader!r} resigns")
    if not isinstance(leader, Leader):
        return
    others = [id for id in leader.voters if id != replica.key.id]
    deadline = replica.now + election_timeout(replica)
    resigned = Resigned(leader.epoch, deadline, replica.key.id, replica.endpoints, set(others), leader.successors())
    _enter(replica, resigned)


def check_quorum_timeout(replica: Replica) -> int:
    return int(replica.settings.fetch_timeout_ms * CHECK_QUORUM_FACTOR)


def _keep(replica: Replica, epoch: int, leader_id: int | None, voted: ReplicaKey | None) -> None:
    replica.persist(ElectionState(epoch, leader_id, voted))


def _enter(replica: Replica, state: State) -> None:
    before, replica.state = replica.state, state
    alone = replica.voters.is_only(replica.key)  # then it is nobody's news
    logger.log(logging.DEBUG if alone else logging.INFO, "replica %s: %r after %r", replica.key.id, state, before)
    if isinstance(before, Leader) and before.change is not None:
        before.change.give_up()
    if replica.snapshots is not None:
        replica.snapshots.drop()
    replica.links.reset()
    replica.outgoing.clear()
    replica.parked.wake_all()


def _check(holds: bool, what: str) -> None:
    if not holds:
        raise UsageError(f"this may not be: {what}")
