"""EndQuorumEpoch: a resigned leader notifies the voters, and waits for another leader (KIP-595,
KIP-853).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.end_quorum_epoch import EndQuorumEpochRequest, EndQuorumEpochResponse

from . import leader_discovery, routing, transitions
from .messages import leader_request_of, sole_response_partition
from .quorum_state import LAST_EPOCH
from .request_manager import OutboundRequest, RequestFailure
from .resigned_state import ResignedState

if TYPE_CHECKING:
    from .raft_replica import RaftReplica

VERSION = 1


def poll(replica: RaftReplica, resigned: ResignedState) -> int | None:
    """Sends EndQuorumEpoch to voters that have not answered; without a new leader the next epoch
    starts.
    """
    goes_on = replica.shutdown_until is None and resigned.epoch < LAST_EPOCH
    if goes_on and replica.now >= resigned.deadline:
        transitions.to_unattached(replica, resigned.epoch + 1)
        return replica.now
    for id in sorted(resigned.unaware):
        routing.send_to_voter(replica, id, _end_request(replica, resigned), VERSION)
    peers = [peer for id in resigned.unaware if (peer := routing.voter_peer(replica, id)) is not None]
    ready = routing.next_ready_at(replica, peers)
    if not goes_on:
        return ready
    return resigned.deadline if ready is None else max(replica.now + 1, min(ready, resigned.deadline))


def _end_request(replica: RaftReplica, resigned: ResignedState) -> EndQuorumEpochRequest:
    of = EndQuorumEpochRequest
    body: EndQuorumEpochRequest = leader_request_of(
        replica,
        ApiKeys.END_QUORUM_EPOCH,
        preferred_successors=[key.id for key in resigned.successors],
        preferred_candidates=[
            of.ReplicaInfo(candidate_id=key.id, candidate_directory_id=key.directory_id) for key in resigned.successors
        ],
    )
    return body


def handle_end_quorum_epoch_response(
    replica: RaftReplica, send: OutboundRequest, response: EndQuorumEpochResponse | RequestFailure
) -> bool:
    """A voter knows that the leader resigned, or knows another leader."""
    if not isinstance(response, EndQuorumEpochResponse):
        return False
    settled = leader_discovery.handle_top_level(replica, response, sole_response_partition(response))
    if settled is not None:
        return settled
    if isinstance(replica.state, ResignedState):
        replica.state.unaware.discard(send.to.id)
    return True
