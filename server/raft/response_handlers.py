"""Dispatches the responses to this replica's requests, by API."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.message import Message

from ..log.files.errors import DiskFailure
from .lazy_import import LazyImport
from .leader_discovery import ClusterAuthorizationFailed
from .raft_log import DivergedLog
from .request_manager import OutboundRequest, RequestFailure

if TYPE_CHECKING:
    from .raft_replica import RaftReplica

ResponseHandler = Callable[["RaftReplica", OutboundRequest, Any], bool]
"""Returns whether the response was usable; after a failure the connection backs off."""


def _handle_fetch_snapshot_response(
    replica: RaftReplica, send: OutboundRequest, response: Message | RequestFailure
) -> bool:
    return replica.snapshots is not None and replica.snapshots.answered(replica, send, response)


HANDLERS: dict[int, ResponseHandler] = {
    ApiKeys.VOTE: LazyImport("vote", "handle_vote_response"),
    ApiKeys.BEGIN_QUORUM_EPOCH: LazyImport("begin_quorum_epoch", "handle_begin_quorum_epoch_response"),
    ApiKeys.END_QUORUM_EPOCH: LazyImport("end_quorum_epoch", "handle_end_quorum_epoch_response"),
    ApiKeys.FETCH: LazyImport("follower_actions", "handle_fetch_response"),
    ApiKeys.FETCH_SNAPSHOT: _handle_fetch_snapshot_response,
    ApiKeys.API_VERSIONS: LazyImport("reconfiguration", "handle_api_versions_response"),
    ApiKeys.UPDATE_RAFT_VOTER: LazyImport("voter_updates", "handle_update_voter_response"),
    ApiKeys.ADD_RAFT_VOTER: LazyImport("voter_updates", "handle_join_response"),
    ApiKeys.REMOVE_RAFT_VOTER: LazyImport("voter_updates", "handle_join_response"),
}


def handle_response(replica: RaftReplica, send: OutboundRequest, response: Message | RequestFailure) -> None:
    """Handles a response or a failure. A response that contradicts committed records stops this
    replica.
    """
    if getattr(response, "error_code", 0) == error_codes.INCONSISTENT_CLUSTER_ID:
        replica.note_once(f"{send.to!r} belongs to another cluster than {replica.cluster_id}")
    assert send.body.api_key is not None
    try:
        if not HANDLERS[send.body.api_key](replica, send, response):
            replica.links.pause(send.to, replica.now)
    except (DivergedLog, ClusterAuthorizationFailed, DiskFailure) as problem:
        replica.fail(problem)
