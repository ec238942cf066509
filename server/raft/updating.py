"""A follower that compares what the log says of it with what it is, and tells the leader: UpdateRaftVoter of a voter that listens elsewhere, or
knows another `kraft.version` (KIP-853); RemoveRaftVoter and AddRaftVoter of a controller that is to join of its own accord (KIP-1186).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kafkadouble.messages.generated.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kafkadouble.messages.generated.update_raft_voter import UpdateRaftVoterRequest, UpdateRaftVoterResponse
from kafkadouble.messages.message import Message

from . import learning, sending
from .follower import Follower
from .links import Failure, Send
from .messages import NOBODY
from .replica_key import ReplicaKey
from .voters import Voter

if TYPE_CHECKING:
    from .replica import Replica

UPDATE_VERSION, ADD_VERSION, REMOVE_VERSION = 0, 1, 0

_HEARD = (error_codes.NONE, error_codes.REQUEST_TIMED_OUT, error_codes.DUPLICATE_VOTER, error_codes.VOTER_NOT_FOUND)


def is_sent(replica: Replica, state: Follower) -> bool:
    """Every now and then, if there is something to tell: it is told in the place of a fetch. Whether it was."""
    if replica.now < state.update_at:
        return False
    request = _due(replica, state)
    if request is None:
        _later(replica, state)
        return False
    leader = sending.leader_peer(replica)
    if leader is None or not replica.links.is_ready(leader, replica.now):
        return False
    body, version = request
    replica.send(leader, body, version)
    _later(replica, state)
    return True


def _later(replica: Replica, state: Follower) -> None:
    state.update_at = replica.now + replica.settings.fetch_timeout_ms


def _due(replica: Replica, state: Follower) -> tuple[Message, int] | None:
    if replica.is_voter:
        return (_update(replica), UPDATE_VERSION) if _is_news(replica, state) else None
    if not (replica.settings.auto_join and replica.can_vote and replica.kraft_version > 0):
        return None
    namesake = replica.voters.get(replica.key.id)
    if namesake is not None:
        return _remove(replica, namesake.key), REMOVE_VERSION
    return _join(replica), ADD_VERSION


def _is_news(replica: Replica, state: Follower) -> bool:
    """Under `kraft.version` 0 each leader is told once; later, when the log says something else."""
    if replica.kraft_version == 0:
        return not state.has_updated
    own = Voter(replica.key, replica.endpoints, replica.kraft_versions)
    return replica.voters.get(replica.key.id) != own


def _update(replica: Replica) -> UpdateRaftVoterRequest:
    of, (low, high) = UpdateRaftVoterRequest, replica.kraft_versions
    return of(
        cluster_id=replica.cluster_id,
        current_leader_epoch=replica.epoch,
        voter_id=replica.key.id,
        voter_directory_id=replica.key.directory_id,
        listeners=[of.Listener(name=name, host=at.host, port=at.port) for name, at in replica.endpoints.items()],
        kraft_version_feature=of.KRaftVersionFeature(min_supported_version=low, max_supported_version=high),
    )


def _join(replica: Replica) -> AddRaftVoterRequest:
    """Answered at once, so that the fetches by which it catches up and commits go on meanwhile (KIP-1186)."""
    of = AddRaftVoterRequest
    return of(
        cluster_id=replica.cluster_id,
        timeout_ms=replica.settings.request_timeout_ms,
        voter_id=replica.key.id,
        voter_directory_id=replica.key.directory_id,
        listeners=[of.Listener(name=name, host=at.host, port=at.port) for name, at in replica.endpoints.items()],
        ack_when_committed=False,
    )


def _remove(replica: Replica, namesake: ReplicaKey) -> RemoveRaftVoterRequest:
    """The voter of our id with another directory: that is what this node was, and is no more."""
    return RemoveRaftVoterRequest(
        cluster_id=replica.cluster_id, voter_id=namesake.id, voter_directory_id=namesake.directory_id
    )


def update_answered(replica: Replica, send: Send, response: UpdateRaftVoterResponse | Failure) -> bool:
    if not isinstance(response, UpdateRaftVoterResponse):
        return False
    learning.check_top(response.error_code)
    leader = response.current_leader
    if leader is not None and leader.leader_id != NOBODY:
        endpoint = [UpdateEndpoint(leader)]
        handled = learning.learn(replica, leader, response.error_code, endpoint if leader.host else [])
        if handled is not None:
            return handled
    if response.error_code in (error_codes.NONE, error_codes.UNSUPPORTED_VERSION):
        if isinstance(replica.state, Follower):
            replica.state.has_updated = True
        return True
    return False


class UpdateEndpoint:
    """Where that answer says that the leader is, in the form of the others."""

    __slots__ = ("host", "node_id", "port")

    def __init__(self, leader: UpdateRaftVoterResponse.CurrentLeader) -> None:
        self.node_id, self.host, self.port = leader.leader_id, leader.host, leader.port


def joined(replica: Replica, send: Send, response: AddRaftVoterResponse | RemoveRaftVoterResponse | Failure) -> bool:
    """Whatever the leader says to it: whether this node votes stands in the log, and it asks again later if not."""
    if isinstance(response, Failure):
        return False
    learning.check_top(response.error_code)
    return response.error_code in _HEARD
