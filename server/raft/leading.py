"""What a leader does: opens its epoch, makes itself known, appends, counts who has what, and goes when it must (KIP-595).

Committed is what a majority of voters has, the leader among them only as far as its own log is flushed; see `leader`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.begin_quorum_epoch import BeginQuorumEpochRequest, BeginQuorumEpochResponse
from kafkadouble.messages.generated.end_quorum_epoch import EndQuorumEpochRequest, EndQuorumEpochResponse

from ..log.offset_and_epoch import OffsetAndEpoch
from . import control_records, learning, reconfiguration, sending, transitions
from .candidate import Candidate
from .control_records import Control
from .leader import Leader
from .links import Failure, Send
from .messages import BEGIN, END, LAST_EPOCH, ask, sole_answer
from .replica_key import ReplicaKey
from .resigned import Resigned

if TYPE_CHECKING:
    from .replica import Replica

VERSION = 1


def begin(replica: Replica) -> None:
    """Elected: the first batch of the epoch says so, and with it everything before can be committed."""
    candidate = replica.state
    granting = candidate.ballot.granting if isinstance(candidate, Candidate) else []
    leader = transitions.to_leader(replica)
    replica.log.begin_epoch(leader.epoch)
    replica.log.append_control(_first_records(replica, granting), leader.epoch, replica.now)
    flush(replica, leader)


def _first_records(replica: Replica, granting: Sequence[ReplicaKey]) -> list[Control]:
    found = [control_records.leader_change(replica.key, replica.voters, granting)]
    if replica.kraft_version > 0:
        found += [control_records.kraft_version(replica.kraft_version), control_records.voters(replica.voters)]
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
        reconfiguration.committed(replica, leader)
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
    reconfiguration.expire(replica, leader)
    begun = _make_known(replica, leader)
    checked = leader.check_at if _can_be_deserted(replica) else None
    change = None if leader.change is None else leader.change.expires
    return min((at for at in (checked, leader.flush_at, begun, change) if at is not None), default=None)


def _can_be_deserted(replica: Replica) -> bool:
    return not replica.voters.is_only(replica.key)


def _make_known(replica: Replica, leader: Leader) -> int | None:
    """BeginQuorumEpoch to the voters that have not fetched yet, every now and then; when it is time again."""
    unaware = [each for each in leader.voters.values() if not each.acknowledged]
    if replica.now >= leader.begin_at:
        for progress in leader.voters.values():
            if progress.key.id != replica.key.id and _is_silent(replica, progress.last_fetch):
                sending.to_voter(replica, progress.key.id, _begin_request(replica, leader, progress.key), VERSION)
        leader.begin_at = replica.now + replica.settings.fetch_timeout_ms // 2
    return leader.begin_at if unaware or len(leader.voters) > 1 else None


def _is_silent(replica: Replica, last_fetch: int) -> bool:
    """Whether a voter has not been heard of for so long that it may have lost its leader."""
    return last_fetch < 0 or replica.now - last_fetch >= replica.settings.fetch_timeout_ms // 2


def _begin_request(replica: Replica, leader: Leader, voter: ReplicaKey) -> BeginQuorumEpochRequest:
    of = BeginQuorumEpochRequest
    body: BeginQuorumEpochRequest = ask(
        BEGIN,
        replica.cluster_id,
        voter_directory_id=voter.directory_id,
        leader_id=replica.key.id,
        leader_epoch=leader.epoch,
    )
    body.voter_id = voter.id
    body.leader_endpoints = [
        of.LeaderEndpoint(name=n, host=at.host, port=at.port) for n, at in replica.endpoints.items()
    ]
    return body


def begin_answered(replica: Replica, send: Send, response: BeginQuorumEpochResponse | Failure) -> bool:
    """A voter knows us, or knows better."""
    if not isinstance(response, BeginQuorumEpochResponse):
        return False
    settled = learning.settled(replica, response, sole_answer(response))
    if settled is not None:
        return settled
    if isinstance(replica.state, Leader) and send.to.id in replica.state.voters:
        replica.state.voters[send.to.id].acknowledged = True
    return True


def resign(replica: Replica) -> None:
    """Lead no more, and tell the others who should."""
    if isinstance(replica.state, Leader):
        transitions.to_resigned(replica)


def poll_resigned(replica: Replica, resigned: Resigned) -> int | None:
    """EndQuorumEpoch to whoever has not heard of it; then, with nobody else leading, into the next epoch."""
    goes_on = replica.shutdown_until is None and resigned.epoch < LAST_EPOCH
    if goes_on and replica.voters.is_only(replica.key):
        transitions.to_candidate(replica)
        return replica.now
    if goes_on and replica.now >= resigned.deadline:
        transitions.to_unattached(replica, resigned.epoch + 1)
        return replica.now
    for id in sorted(resigned.unaware):
        sending.to_voter(replica, id, _end_request(replica, resigned), VERSION)
    peers = [peer for id in resigned.unaware if (peer := sending.voter_peer(replica, id)) is not None]
    ready = sending.next_ready(replica, peers)
    if not goes_on:
        return ready
    return resigned.deadline if ready is None else max(replica.now + 1, min(ready, resigned.deadline))


def _end_request(replica: Replica, resigned: Resigned) -> EndQuorumEpochRequest:
    of = EndQuorumEpochRequest
    body: EndQuorumEpochRequest = ask(
        END,
        replica.cluster_id,
        leader_id=replica.key.id,
        leader_epoch=resigned.epoch,
        preferred_successors=[key.id for key in resigned.successors],
        preferred_candidates=[
            of.ReplicaInfo(candidate_id=key.id, candidate_directory_id=key.directory_id) for key in resigned.successors
        ],
    )
    body.leader_endpoints = [
        of.LeaderEndpoint(name=n, host=at.host, port=at.port) for n, at in replica.endpoints.items()
    ]
    return body


def end_answered(replica: Replica, send: Send, response: EndQuorumEpochResponse | Failure) -> bool:
    """A voter has heard that we resigned, or that somebody leads already."""
    if not isinstance(response, EndQuorumEpochResponse):
        return False
    settled = learning.settled(replica, response, sole_answer(response))
    if settled is not None:
        return settled
    if isinstance(replica.state, Resigned):
        replica.state.unaware.discard(send.to.id)
    return True
