"""What becomes of the answers to our own requests, by the kind of the request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.message import Message

from ..log.files.errors import DiskFailure
from .later import Later
from .learning import NotAuthorized
from .links import Failure, Send
from .raft_log import Diverged

if TYPE_CHECKING:
    from .replica import Replica

Answered = Callable[["Replica", Send, Any], bool]
"""Tells whether the answer was one; after a failure the link pauses."""

HANDLERS: dict[int, Answered] = {
    ApiKeys.VOTE: Later("voting", "vote_answered"),
    ApiKeys.BEGIN_QUORUM_EPOCH: Later("announcing", "begin_answered"),
    ApiKeys.END_QUORUM_EPOCH: Later("resigning", "end_answered"),
    ApiKeys.FETCH: Later("following", "fetch_answered"),
    ApiKeys.API_VERSIONS: Later("reconfiguration", "api_versions_answered"),
    ApiKeys.UPDATE_RAFT_VOTER: Later("updating", "update_answered"),
    ApiKeys.ADD_RAFT_VOTER: Later("updating", "joined"),
    ApiKeys.REMOVE_RAFT_VOTER: Later("updating", "joined"),
}


def answered(replica: Replica, send: Send, response: Message | Failure) -> None:
    """Take an answer, or the lack of one. What a leader could only say if this replica had broken a promise is its end."""
    if getattr(response, "error_code", 0) == error_codes.INCONSISTENT_CLUSTER_ID:
        replica.note_once(f"{send.to!r} belongs to another cluster than {replica.cluster_id}")
    api_key = send.body.api_key
    handler = (HANDLERS.get(api_key) if api_key is not None else None) or _of_snapshots(replica)
    try:
        if not handler(replica, send, response):
            replica.links.pause(send.to, replica.now)
    except (Diverged, NotAuthorized, DiskFailure) as problem:
        replica.fail(problem)


def _of_snapshots(replica: Replica) -> Answered:
    """Whatever else was sent was a FetchSnapshot."""
    if replica.snapshots is None:
        return lambda *_: False
    return replica.snapshots.answered
