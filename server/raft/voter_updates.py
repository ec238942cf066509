"""A follower updates its entry in the voters (KIP-853): a voter with other endpoints or
`kraft.version` levels sends UpdateRaftVoter. A controller that joins by itself sends AddRaftVoter,
after RemoveRaftVoter for its former directory (KIP-1186).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kafkadouble.messages.generated.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kafkadouble.messages.generated.update_raft_voter import UpdateRaftVoterRequest, UpdateRaftVoterResponse
from kafkadouble.messages.message import Message

from . import leader_discovery, routing
from .follower_state import FollowerState
from .messages import NO_LEADER_ID
from .replica_key import ReplicaKey
from .request_manager import OutboundRequest, RequestFailure
from .voters import Voter

if TYPE_CHECKING:
    from .raft_replica import RaftReplica

UPDATE_VERSION, ADD_VERSION, REMOVE_VERSION = 0, 1, 0

_HANDLED_ERRORS = (
    error_codes.NONE,
    error_codes.REQUEST_TIMED_OUT,
    error_codes.DUPLICATE_VOTER,
    error_codes.VOTER_NOT_FOUND,
)


def maybe_send_voter_update(replica: RaftReplica, state: FollowerState) -> bool:
    """Periodically sends an update if one is needed, instead of a fetch. Returns whether it was
    sent.
    """
    if replica.now < state.update_at:
        return False
    request = _next_request(replica, state)
    if request is None:
        _schedule_next(replica, state)
        return False
    leader = routing.leader_peer(replica)
    if leader is None or not replica.links.is_ready(leader, replica.now):
        return False
    body, version = request
    replica.send(leader, body, version)
    _schedule_next(replica, state)
    return True


def _schedule_next(replica: RaftReplica, state: FollowerState) -> None:
    state.update_at = replica.now + replica.settings.fetch_timeout_ms


def _next_request(replica: RaftReplica, state: FollowerState) -> tuple[Message, int] | None:
    if replica.is_voter:
        return (_update_voter_request(replica), UPDATE_VERSION) if _needs_update(replica, state) else None
    if not (replica.settings.auto_join and replica.can_vote and replica.kraft_version > 0):
        return None
    namesake = replica.voters.get(replica.key.id)
    if namesake is not None:
        return _remove_voter_request(replica, namesake.key), REMOVE_VERSION
    return _add_voter_request(replica), ADD_VERSION


def _needs_update(replica: RaftReplica, state: FollowerState) -> bool:
    """Under `kraft.version` 0 once per leader; later if the log has other data."""
    if replica.kraft_version == 0:
        return not state.has_updated
    own = Voter(replica.key, replica.endpoints, replica.kraft_versions)
    return replica.voters.get(replica.key.id) != own


def _update_voter_request(replica: RaftReplica) -> UpdateRaftVoterRequest:
    of, (low, high) = UpdateRaftVoterRequest, replica.kraft_versions
    return of(
        cluster_id=replica.cluster_id,
        current_leader_epoch=replica.epoch,
        voter_id=replica.key.id,
        voter_directory_id=replica.key.directory_id,
        listeners=[of.Listener(name=name, host=at.host, port=at.port) for name, at in replica.endpoints.items()],
        kraft_version_feature=of.KRaftVersionFeature(min_supported_version=low, max_supported_version=high),
    )


def _add_voter_request(replica: RaftReplica) -> AddRaftVoterRequest:
    """Answered at once, so that the fetches that catch up and commit continue (KIP-1186)."""
    of = AddRaftVoterRequest
    return of(
        cluster_id=replica.cluster_id,
        timeout_ms=replica.settings.request_timeout_ms,
        voter_id=replica.key.id,
        voter_directory_id=replica.key.directory_id,
        listeners=[of.Listener(name=name, host=at.host, port=at.port) for name, at in replica.endpoints.items()],
        ack_when_committed=False,
    )


def _remove_voter_request(replica: RaftReplica, namesake: ReplicaKey) -> RemoveRaftVoterRequest:
    """The voter with this id and another directory id: what this node was before."""
    return RemoveRaftVoterRequest(
        cluster_id=replica.cluster_id, voter_id=namesake.id, voter_directory_id=namesake.directory_id
    )


def handle_update_voter_response(
    replica: RaftReplica, send: OutboundRequest, response: UpdateRaftVoterResponse | RequestFailure
) -> bool:
    if not isinstance(response, UpdateRaftVoterResponse):
        return False
    leader_discovery.check_top_level_error(response.error_code)
    leader = response.current_leader
    if leader is not None and leader.leader_id != NO_LEADER_ID:
        endpoint = [UpdateEndpoint(leader)]
        handled = leader_discovery.handle_leader_and_epoch(
            replica, leader, response.error_code, endpoint if leader.host else []
        )
        if handled is not None:
            return handled
    if response.error_code in (error_codes.NONE, error_codes.UNSUPPORTED_VERSION):
        if isinstance(replica.state, FollowerState):
            replica.state.has_updated = True
        return True
    return False


class UpdateEndpoint:
    """The leader's endpoint of that response, in the form of the other responses."""

    __slots__ = ("host", "node_id", "port")

    def __init__(self, leader: UpdateRaftVoterResponse.CurrentLeader) -> None:
        self.node_id, self.host, self.port = leader.leader_id, leader.host, leader.port


def handle_join_response(
    replica: RaftReplica,
    send: OutboundRequest,
    response: AddRaftVoterResponse | RemoveRaftVoterResponse | RequestFailure,
) -> bool:
    """Any answer will do: whether this node votes is in the log, and it tries again later."""
    if isinstance(response, RequestFailure):
        return False
    leader_discovery.check_top_level_error(response.error_code)
    return response.error_code in _HANDLED_ERRORS
