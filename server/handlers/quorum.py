"""The APIs that the quorum answers: votes, epochs, replication of the metadata log, and its voters.

Each request is passed on to the quorum (KIP-595, KIP-630, KIP-853). A Fetch before version 13 that
is refused has the error for each partition, too, as in Kafka.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.message import Message

from ..replica.fetching.cached_partition import TOPIC_IDS_FROM
from ..replica.fetching.refused_fetch import refused_fetch
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext


def answer(node: HandlerContext, request: Request[Any]) -> Message | Wait[Message]:
    return node.quorum.handle(request)


def refuse(request: Request[Any], code: int, message: str | None) -> Message:
    if request.api_key == ApiKeys.FETCH:
        body = request.body if request.version < TOPIC_IDS_FROM else FetchRequest(session_id=request.body.session_id)
        return refused_fetch(body, request.version, code)
    return request.peer.apis[request.api_key].refuse_as_a_whole(request, code, message)
