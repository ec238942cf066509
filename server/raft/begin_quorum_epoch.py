"""BeginQuorumEpoch: a leader announces its epoch to voters that do not fetch (KIP-595, KIP-853)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.begin_quorum_epoch import BeginQuorumEpochRequest, BeginQuorumEpochResponse

from . import leader_discovery, routing
from .leader_state import LeaderState
from .messages import leader_request_of, sole_response_partition
from .request_manager import OutboundRequest, RequestFailure

if TYPE_CHECKING:
    from .raft_replica import RaftReplica

VERSION = 1


def send_begin_quorum_epoch(replica: RaftReplica, leader: LeaderState) -> int | None:
    """Sends BeginQuorumEpoch periodically to the voters that do not fetch; returns the time of the
    next round.
    """
    unaware = [voter for voter in leader.voters.values() if not voter.acknowledged]
    if replica.now >= leader.begin_at:
        for progress in leader.voters.values():
            if progress.key.id != replica.key.id and _needs_begin_quorum_epoch(replica, progress.last_fetch):
                body: BeginQuorumEpochRequest = leader_request_of(
                    replica, ApiKeys.BEGIN_QUORUM_EPOCH, voter_directory_id=progress.key.directory_id
                )
                body.voter_id = progress.key.id
                routing.send_to_voter(replica, progress.key.id, body, VERSION)
        leader.begin_at = replica.now + replica.settings.fetch_timeout_ms // 2
    return leader.begin_at if unaware or len(leader.voters) > 1 else None


def _needs_begin_quorum_epoch(replica: RaftReplica, last_fetch: int) -> bool:
    """Whether the voter's last fetch is so old that it may have lost its leader."""
    return last_fetch < 0 or replica.now - last_fetch >= replica.settings.fetch_timeout_ms // 2


def handle_begin_quorum_epoch_response(
    replica: RaftReplica, send: OutboundRequest, response: BeginQuorumEpochResponse | RequestFailure
) -> bool:
    """The voter knows this leader, or a newer epoch."""
    if not isinstance(response, BeginQuorumEpochResponse):
        return False
    settled = leader_discovery.handle_top_level(replica, response, sole_response_partition(response))
    if settled is not None:
        return settled
    if isinstance(replica.state, LeaderState) and send.to.id in replica.state.voters:
        replica.state.voters[send.to.id].acknowledged = True
    return True
