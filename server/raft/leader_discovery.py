"""What every answer tells beside what was asked: the epoch, and who leads (KIP-595).

An older epoch than our own tells nothing. A later one, or an error that says that we are behind, is believed; a leader is followed where he can
be reached. Somebody who contradicts what we know in the same epoch is not believed, and neither is he who says that we lead.
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
    from .kafka_raft_client import KafkaRaftClient

_STALE_EPOCH_ERRORS = (error_codes.FENCED_LEADER_EPOCH, error_codes.NOT_LEADER_OR_FOLLOWER)
_UNUSABLE_ERRORS = (error_codes.BROKER_NOT_AVAILABLE, error_codes.INVALID_REQUEST, error_codes.INVALID_VOTER_KEY)


class ClusterAuthorizationFailed(Exception):
    """The other nodes do not let this one take part (CLUSTER_AUTHORIZATION_FAILED): no later request would fare better."""


def check_top_level_error(code: int) -> None:
    """An error of a whole answer that is the end."""
    if code == error_codes.CLUSTER_AUTHORIZATION_FAILED:
        raise ClusterAuthorizationFailed("the quorum does not let this node take part (CLUSTER_AUTHORIZATION_FAILED)")


def handle_leader_and_epoch(
    replica: KafkaRaftClient, leader: Any, code: int, node_endpoints: Sequence[Any]
) -> bool | None:
    """Take what an answer says. `leader` has leader_id and leader_epoch. True: it has made a difference, and there is nothing more to it;
    False: it is of no use, and the next request there may wait a little; None: it is to be read on."""
    epoch, id, before = leader.leader_epoch, leader.leader_id, replica.state
    if not replica.epoch <= epoch <= LAST_EPOCH or code == error_codes.UNKNOWN_LEADER_EPOCH:
        return False
    endpoints = endpoints_in(replica, id, node_endpoints)
    if epoch > replica.epoch or code in _STALE_EPOCH_ERRORS:
        accept_leader(replica, epoch, id, endpoints)
        _update_leader_endpoints(replica, id, endpoints)
        return replica.state is not before
    is_found = before.leader_id is None or (before.leader_id == id and not before.leader_endpoints)
    if is_found and id not in (NO_LEADER_ID, replica.key.id):
        accept_leader(replica, epoch, id, endpoints)
        return None if code == error_codes.NONE else replica.state is not before
    return False if code in _UNUSABLE_ERRORS else None


def handle_top_level(replica: KafkaRaftClient, response: Any, partition: Any) -> bool | None:
    """The same for a whole answer whose `partition` names the leader (None where it has not just one): also False for any error in it."""
    check_top_level_error(response.error_code)
    if partition is None or response.error_code:
        return False
    handled = handle_leader_and_epoch(replica, partition, partition.error_code, response.node_endpoints)
    if handled is None and partition.error_code:
        return False
    return handled


def endpoints_in(replica: KafkaRaftClient, id: int, node_endpoints: Sequence[Any]) -> Mapping[str, VoterEndpoint]:
    """Where an answer says that the leader is, or the voter set."""
    for each in node_endpoints:
        if each.node_id == id and id >= 0:
            return {replica.listener_name: VoterEndpoint(each.host, each.port)}
    return replica.voters.endpoints_of(id)


def is_consistent(replica: KafkaRaftClient, epoch: int, id: int) -> bool:
    """Whether somebody may lead in an epoch, by what we know."""
    if id == replica.key.id:
        return epoch == replica.epoch and replica.state.leader_id == id
    return epoch > replica.epoch or replica.state.leader_id in (None, id) or id < 0


def accept_leader(replica: KafkaRaftClient, epoch: int, id: int, endpoints: Mapping[str, VoterEndpoint]) -> None:
    """A later epoch, or a leader that was not known, or that was not known to be reachable in so many ways."""
    state = replica.state
    if not is_consistent(replica, epoch, id):
        if epoch > state.epoch:  # we are said to lead where we never did: the epoch is real, whoever leads it
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


def _update_leader_endpoints(replica: KafkaRaftClient, id: int, endpoints: Mapping[str, VoterEndpoint]) -> None:
    """Where the leader was said to be nobody answers: he may be where others say. The time to find him does not begin anew."""
    state = replica.state
    if isinstance(state, FollowerState) and state.leader_id == id and endpoints:
        peer = routing.leader_peer(replica)
        if peer is None or replica.links.is_paused(peer, replica.now):
            state.leader_endpoints = endpoints
