"""Faults for Fetch and Metadata: their requests cover more parts than they name, and their
responses hold more parts than were requested.

A Fetch covers every partition of its session (KIP-227), and its response must keep the session
consistent. A Metadata request may cover all topics, and a client ignores a response without
brokers. So these requests are always processed, and the failed parts are put over the response.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.generated.metadata import MetadataRequest

from ..replica.fetching.cached_partition import CachedPartition
from ..requests.request import Request

if TYPE_CHECKING:
    from .host import FaultHost

FETCH, METADATA = "Fetch", "Metadata"
ALWAYS_PROCESSED = (FETCH, METADATA)

OF_THE_SESSION = frozenset(
    {
        error_codes.FETCH_SESSION_ID_NOT_FOUND,
        error_codes.INVALID_FETCH_SESSION_EPOCH,
        error_codes.FETCH_SESSION_TOPIC_ID_ERROR,
    }
)
"""The errors of Fetch that are about the session and never about a partition."""


def meant(api: str, node: FaultHost, request: Request[Any]) -> Any:
    """The request's body, with all parts that the request covers."""
    if api == FETCH:
        return _with_session(node, request)
    if api == METADATA:
        requests_all = request.body.topics is None or (request.version == 0 and not request.body.topics)
        if not requests_all:
            return request.body
        body = copy(request.body)
        body.topics = [MetadataRequest.MetadataRequestTopic(name=name) for name in sorted(node.image.topic_ids)]
        return body
    return request.body


def _with_session(node: FaultHost, request: Request[FetchRequest]) -> FetchRequest:
    session = node.fetch_sessions.get(request.body.session_id) if request.body.session_epoch > 0 else None
    if session is None:
        return request.body
    named = {
        (topic.topic, topic.topic_id, each.partition) for topic in request.body.topics for each in topic.partitions
    }
    unnamed = [each for each in session.partitions.values() if (each.topic, each.topic_id, each.index) not in named]
    body = copy(request.body)
    body.topics = [*request.body.topics, *_as_topics(unnamed)]
    return body


def _as_topics(partitions: Iterable[CachedPartition]) -> list[FetchRequest.FetchTopic]:
    return [
        FetchRequest.FetchTopic(
            topic=partition.topic,
            topic_id=partition.topic_id,
            partitions=[FetchRequest.FetchPartition(partition=partition.index)],
        )
        for partition in partitions
    ]


def processed(api: str, body: Any, left: Any | None) -> Any | None:
    """The part of a request to process. `left` is the part that no rule fails before it is
    processed."""
    if api == FETCH:
        made = copy(body)
        made.max_wait_ms = made.min_bytes = 0
        return made
    if api == METADATA and left is None:
        left = copy(body)
        left.topics = []
    return left


def is_whole(refused: Any) -> bool:
    """Whether a Fetch response is an error of the session, which covers every partition."""
    return isinstance(refused, FetchResponse) and refused.error_code in OF_THE_SESSION
