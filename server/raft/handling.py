"""Which request is answered by whom; and what is answered where a request is about something else as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.message import Message
from kafkadouble.wire.errors import UsageError

from ..log.files.errors import DiskFailure
from ..requests.waiting import Wait
from .later import Later
from .messages import Incoming, Refused, check_cluster, refusal

if TYPE_CHECKING:
    from .replica import Replica

Handler = Callable[["Replica", Incoming], Message | Wait[Message]]

HANDLERS: dict[int, Handler] = {
    ApiKeys.VOTE: Later("voting", "handle_vote"),
    ApiKeys.BEGIN_QUORUM_EPOCH: Later("following", "handle_begin"),
    ApiKeys.END_QUORUM_EPOCH: Later("following", "handle_end"),
    ApiKeys.FETCH: Later("fetching", "handle_fetch"),
    ApiKeys.DESCRIBE_QUORUM: Later("describing", "handle_describe"),
    ApiKeys.ADD_RAFT_VOTER: Later("reconfiguration", "handle_add"),
    ApiKeys.REMOVE_RAFT_VOTER: Later("reconfiguration", "handle_remove"),
    ApiKeys.UPDATE_RAFT_VOTER: Later("reconfiguration", "handle_update"),
}
_CHECKED_HERE = (ApiKeys.VOTE, ApiKeys.BEGIN_QUORUM_EPOCH, ApiKeys.END_QUORUM_EPOCH)
"""The APIs whose cluster id comes before everything else, and which share one shape."""


def handle(replica: Replica, request: Incoming) -> Message | Wait[Message]:
    """The answer. UsageError for an API that is not the quorum's."""
    if request.api_key == ApiKeys.FETCH_SNAPSHOT and replica.snapshots is not None:
        return replica.snapshots.handle(replica, request)
    if replica.failure is not None:
        return unable(request)
    handler = HANDLERS.get(request.api_key)
    if handler is None:
        raise UsageError(f"API {request.api_key} is not one of the quorum's")
    try:
        if request.api_key in _CHECKED_HERE:
            check_cluster(replica, request.body.cluster_id)
        return handler(replica, request)
    except Refused as refused:
        return refusal(request.api_key, refused.code)
    except DiskFailure as problem:
        replica.fail(problem)
        return unable(request)


def unable(request: Incoming) -> Message:
    """A replica that cannot go on says so to everybody, and promises nothing any more."""
    return refusal(request.api_key, error_codes.BROKER_NOT_AVAILABLE)
