"""What becomes of the answers to our own requests, by the kind of the request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kafkadouble.messages.generated.add_raft_voter import AddRaftVoterRequest
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.begin_quorum_epoch import BeginQuorumEpochRequest
from kafkadouble.messages.generated.end_quorum_epoch import EndQuorumEpochRequest
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.remove_raft_voter import RemoveRaftVoterRequest
from kafkadouble.messages.generated.update_raft_voter import UpdateRaftVoterRequest
from kafkadouble.messages.generated.vote import VoteRequest
from kafkadouble.messages.message import Message

from ..log.files.errors import DiskFailure
from . import following, leading, reconfiguration, updating, voting
from .learning import NotAuthorized
from .links import Failure, Send
from .raft_log import Diverged

if TYPE_CHECKING:
    from .replica import Replica

Answered = Callable[["Replica", Send, Any], bool]
"""Tells whether the answer was one; after a failure the link pauses."""

_HANDLERS: dict[type[Message], Answered] = {
    VoteRequest: voting.vote_answered,
    BeginQuorumEpochRequest: leading.begin_answered,
    EndQuorumEpochRequest: leading.end_answered,
    FetchRequest: following.fetch_answered,
    ApiVersionsRequest: reconfiguration.api_versions_answered,
    UpdateRaftVoterRequest: updating.update_answered,
    AddRaftVoterRequest: updating.joined,
    RemoveRaftVoterRequest: updating.joined,
}


def answered(replica: Replica, send: Send, response: Message | Failure) -> None:
    """Take an answer, or the lack of one. What a leader could only say if this replica had broken a promise is its end."""
    handler = _HANDLERS.get(type(send.body)) or _of_snapshots(replica)
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
