"""What a replica does that has led: it tells the others, and waits for one of them to lead (KIP-595, KIP-853)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.end_quorum_epoch import EndQuorumEpochRequest, EndQuorumEpochResponse

from . import learning, sending, transitions
from .links import Failure, Send
from .messages import ask_as_leader, sole_answer
from .quorum_state import LAST_EPOCH
from .resigned import Resigned

if TYPE_CHECKING:
    from .replica import Replica

VERSION = 1


def poll(replica: Replica, resigned: Resigned) -> int | None:
    """EndQuorumEpoch to whoever has not heard of it; then, with nobody else leading, into the next epoch."""
    goes_on = replica.shutdown_until is None and resigned.epoch < LAST_EPOCH
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
    body: EndQuorumEpochRequest = ask_as_leader(
        replica,
        ApiKeys.END_QUORUM_EPOCH,
        preferred_successors=[key.id for key in resigned.successors],
        preferred_candidates=[
            of.ReplicaInfo(candidate_id=key.id, candidate_directory_id=key.directory_id) for key in resigned.successors
        ],
    )
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
