"""Turns the bytes of a frame into a request, and an answer into the bytes of a frame.

Sockets, Envelopes and links inside a process share it. Rules. A frame is read in steps: the
header, the API and its version, the number of elements, the body. The first step that fails raises
a MalformedRequest, which carries the close reason; what follows from it is decided by the caller.
Frames are given and returned as the protocol has them: without their size when they are read, with
it when they are written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafkadouble.messages import headers
from kafkadouble.messages.cut import cut_texts
from kafkadouble.messages.headers import RequestHead
from kafkadouble.wire.errors import UsageError, WireError

from ..apis.row import ServedApi
from . import bounds, close_reasons
from .request import Peer, Request


class MalformedRequest(Exception):
    """The bytes are not a request that is served.

    `reason` is the rest of a sentence that begins with the peer; `head` is None if the header
    cannot be read.
    """

    def __init__(self, reason: str, head: RequestHead | None) -> None:
        super().__init__(reason)
        self.reason, self.head = reason, head


class UnsupportedVersion(MalformedRequest):
    """The API is not served here, or not in this version."""

    head: RequestHead


def read_head(frame: bytes) -> RequestHead:
    """The header of a request."""
    try:
        return headers.read_request_header(frame, 0, bounds.MOST_ELEMENTS)
    except WireError as error:
        raise MalformedRequest(close_reasons.bad_header(frame, error), None) from error


def served_api(head: RequestHead, apis: Mapping[int, ServedApi]) -> ServedApi:
    """The API of a request, if it is served in the version of the request."""
    served = apis.get(head.api_key)
    if served is None or not served.lowest <= head.api_version <= served.highest:
        raise UnsupportedVersion(close_reasons.not_served(head, served), head)
    return served


def read_request(frame: bytes, head: RequestHead, served: ServedApi, peer: Peer, received: int) -> Request[Any]:
    """The request in a frame whose header was read. `received` is when its last byte came (ms)."""
    size = len(frame)
    if size + head.tags > bounds.MOST_ELEMENTS and bounds.has_too_many(served.request, frame, head):
        raise MalformedRequest(close_reasons.too_many(head, bounds.MOST_ELEMENTS), head)
    try:
        # Bytes behind the body are ignored, as Kafka does: librdkafka sends three too many when it
        # asks for all topics.
        body, _ = served.request.read(frame, head.api_version, head.body_offset)
    except WireError as error:
        raise MalformedRequest(close_reasons.bad_body(head, error), head) from error
    return Request(head.api_key, head.api_version, head.correlation_id, head.client_id, body, peer, received, size)


def write_response(request: Request[Any], answer: Any) -> Sequence[Any]:
    """The frame of an answer as buffers and slices of files. Texts that are too long for the
    version are cut; UsageError if the answer cannot be written even so."""
    try:
        return headers.write_response(answer, request.correlation_id, request.api_key, request.version)
    except UsageError:
        if not cut_texts(answer):
            raise
        return headers.write_response(answer, request.correlation_id, request.api_key, request.version)
