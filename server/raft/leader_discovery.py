"""Takes the epoch and the leader from every response (KIP-595).

A response with an older epoch is ignored. A later epoch is accepted, and so is an error that says
that this replica is behind; a leader is followed if its endpoint is known. A response is not
accepted if it names another leader in the same epoch, or this replica as a leader that it is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes

from . import routing, transitions
from .follower_state import FollowerState
from .messages import NO_LEADER_ID
from .quorum_state import LAST_EPOCH
from .voters import VoterEndpoint

if TYPE_CHECKING:
    from .raft_replica import RaftReplica

_STALE_EPOCH_ERRORS = (error_codes.FENCED_LEADER_EPOCH, error_codes.NOT_LEADER_OR_FOLLOWER)
_UNUSABLE_ERRORS = (error_codes.BROKER_NOT_AVAILABLE, error_codes.INVALID_REQUEST, error_codes.INVALID_VOTER_KEY)


class ClusterAuthorizationFailed(Exception):
    """The quorum does not authorize this node (CLUSTER_AUTHORIZATION_FAILED): later requests would
    fail too.
    """


def check_top_level_error(code: int) -> None:
    """Raises for a top-level error that stops this replica."""
    if code == error_codes.CLUSTER_AUTHORIZATION_FAILED:
        raise ClusterAuthorizationFailed("the quorum does not authorize this node (CLUSTER_AUTHORIZATION_FAILED)")


def handle_leader_and_epoch(replica: RaftReplica, leader: Any, code: int, node_endpoints: Sequence[Any]) -> bool | None:
    """Handles the leader and epoch of a response. `leader` has leader_id and leader_epoch. Returns
    True if the state changed and nothing is left to do; False if the response is unusable and the
    connection backs off; None if the response is to be handled further.
    """
    epoch, id, before = leader.leader_epoch, leader.leader_id, replica.state
    if not replica.epoch <= epoch <= LAST_EPOCH or code == error_codes.UNKNOWN_LEADER_EPOCH:
        return False
    endpoints = endpoints_in(replica, id, node_endpoints)
    if epoch > replica.epoch or code in _STALE_EPOCH_ERRORS:
        accept_leader(replica, epoch, id, endpoints)
        # While the leader cannot be reached where it was, the endpoint in the response is tried.
        # The fetch timeout continues.
        state = replica.state
        if isinstance(state, FollowerState) and state.leader_id == id and endpoints:
            peer = routing.leader_peer(replica)
            if peer is None or replica.links.is_paused(peer, replica.now):
                state.leader_endpoints = endpoints
        return replica.state is not before
    is_found = before.leader_id is None or (before.leader_id == id and not before.leader_endpoints)
    if is_found and id not in (NO_LEADER_ID, replica.key.id):
        accept_leader(replica, epoch, id, endpoints)
        return None if code == error_codes.NONE else replica.state is not before
    return False if code in _UNUSABLE_ERRORS else None


def handle_top_level(replica: RaftReplica, response: Any, partition: Any) -> bool | None:
    """The same for a whole response whose `partition` names the leader (None unless it has exactly
    one partition). Also False for any error in it.
    """
    check_top_level_error(response.error_code)
    if partition is None or response.error_code:
        return False
    handled = handle_leader_and_epoch(replica, partition, partition.error_code, response.node_endpoints)
    if handled is None and partition.error_code:
        return False
    return handled


def endpoints_in(replica: RaftReplica, id: int, node_endpoints: Sequence[Any]) -> Mapping[str, VoterEndpoint]:
    """The leader's endpoints, from the response or the voters."""
    for endpoint in node_endpoints:
        if endpoint.node_id == id and id >= 0:
            return {replica.listener_name: VoterEndpoint(endpoint.host, endpoint.port)}
    return replica.voters.endpoints_of(id)


def is_consistent(replica: RaftReplica, epoch: int, id: int) -> bool:
    """Whether the known state allows this leader in this epoch."""
    if id == replica.key.id:
        return epoch == replica.epoch and replica.state.leader_id == id
    return epoch > replica.epoch or replica.state.leader_id in (None, id) or id < 0


def accept_leader(replica: RaftReplica, epoch: int, id: int, endpoints: Mapping[str, VoterEndpoint]) -> None:
    """Accepts a later epoch, an unknown leader, or more endpoints of the leader."""
    state = replica.state
    if not is_consistent(replica, epoch, id):
        # this replica never led that epoch; the epoch itself is still valid
        if epoch > state.epoch:
            transitions.to_unattached(replica, epoch)
        return
    if id < 0 or id == replica.key.id:
        if epoch > state.epoch:
            transitions.to_unattached(replica, epoch)
    elif epoch > state.epoch or state.leader_id is None or len(endpoints) > len(state.leader_endpoints):
        if endpoints:
            transitions.to_follower(replica, epoch, id, endpoints)
        elif epoch > state.epoch:
            transitions.to_unattached(replica, epoch, id)
