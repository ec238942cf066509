"""Dispatches the requests of the quorum by API, and answers those that are wrong as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.message import Message
from kafkadouble.wire.errors import UsageError

from ..log.files.errors import DiskFailure
from ..requests.waiting import Wait
from .lazy_import import LazyImport
from .messages import InboundRequest, RequestRefused, check_cluster, error_response_of

if TYPE_CHECKING:
    from .raft_replica import RaftReplica

RequestHandler = Callable[["RaftReplica", InboundRequest], Message | Wait[Message]]


def _handle_fetch_snapshot_request(replica: RaftReplica, request: InboundRequest) -> Message:
    """A replica without snapshots has no such API."""
    if replica.snapshots is None:
        raise UsageError(f"{replica!r} has no snapshots")
    return replica.snapshots.handle(replica, request)


HANDLERS: dict[int, RequestHandler] = {
    ApiKeys.VOTE: LazyImport("vote", "handle_vote_request"),
    ApiKeys.BEGIN_QUORUM_EPOCH: LazyImport("follower_actions", "handle_begin_quorum_epoch_request"),
    ApiKeys.END_QUORUM_EPOCH: LazyImport("follower_actions", "handle_end_quorum_epoch_request"),
    ApiKeys.FETCH: LazyImport("fetch_handler", "handle_fetch_request"),
    ApiKeys.FETCH_SNAPSHOT: _handle_fetch_snapshot_request,
    ApiKeys.DESCRIBE_QUORUM: LazyImport("describe_quorum", "handle_describe_quorum_request"),
    ApiKeys.ADD_RAFT_VOTER: LazyImport("reconfiguration", "handle_add_voter_request"),
    ApiKeys.REMOVE_RAFT_VOTER: LazyImport("reconfiguration", "handle_remove_voter_request"),
    ApiKeys.UPDATE_RAFT_VOTER: LazyImport("reconfiguration", "handle_update_voter_request"),
}
_CLUSTER_CHECKED = (ApiKeys.VOTE, ApiKeys.BEGIN_QUORUM_EPOCH, ApiKeys.END_QUORUM_EPOCH)
"""The APIs whose cluster id is checked first, and which have the same shape."""


def handle(replica: RaftReplica, request: InboundRequest) -> Message | Wait[Message]:
    """The response. UsageError for an API that is not the quorum's."""
    if replica.failure is not None:
        return unavailable(request)
    handler = HANDLERS.get(request.api_key)
    if handler is None:
        raise UsageError(f"API {request.api_key} is not one of the quorum's")
    try:
        if request.api_key in _CLUSTER_CHECKED:
            check_cluster(replica, request.body.cluster_id)
        return handler(replica, request)
    except RequestRefused as refused:
        return error_response_of(request.api_key, refused.code)
    except DiskFailure as problem:
        replica.fail(problem)
        return unavailable(request)


def unavailable(request: InboundRequest) -> Message:
    """The response of a replica that has failed: it promises nothing any more."""
    return error_response_of(request.api_key, error_codes.BROKER_NOT_AVAILABLE)
