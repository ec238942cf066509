"""The requests in flight on one connection, and the responses to them.

Rules. The peer is not trusted. Another correlation id, bytes that are not a response, a frame that
is too large, or more bytes than the response is a BadPeer; the connection cannot be used after
that. Responses come in the order of the requests.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import count
from typing import NamedTuple

from kafkadouble.messages import headers, registry
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.elements import exceed
from kafkadouble.messages.message import Message
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.errors import WireError
from kafkadouble.wire.frame import MAX_SIZE, Frames

MOST_ELEMENTS = 1_000_000
"""The largest number of elements of a response: the metadata of a cluster may be larger than any
request."""

NEWEST_API_VERSIONS = 4
"""The version of the first ApiVersions request."""

Versions = Mapping[int, tuple[int, int]]
"""The lowest and the highest version of each API key."""

AT_FIRST: Versions = {ApiKeys.API_VERSIONS: (0, NEWEST_API_VERSIONS)}
"""The state of a peer before its first answer."""


class BadPeer(Exception):
    """The bytes of a peer are not the response to the request, or the peer refuses this client."""


class _InFlightRequest(NamedTuple):
    key: int
    version: int
    correlation_id: int


class ClientConnection:
    """`versions` are the peer's, `in_flight` the requests that it has not answered, oldest
    first."""

    def __init__(self, client_id: str | None, max_frame: int = MAX_SIZE, most_elements: int = MOST_ELEMENTS) -> None:
        self._client_id, self._most_elements = client_id, most_elements
        self._frames, self._ids = Frames(max_frame), count()
        self.in_flight: deque[_InFlightRequest] = deque()
        self.versions = AT_FIRST

    def send(self, body: Message, version: int) -> list[Buffer]:
        """The bytes of a request, in parts. It is in flight from now on."""
        key, correlation_id = body.api_key or 0, next(self._ids) & 0x7FFFFFFF
        parts = headers.write_request(body, correlation_id, self._client_id, version)
        self.in_flight.append(_InFlightRequest(key, version, correlation_id))
        return parts

    def forget(self) -> None:
        """The last request has no response (acks=0)."""
        self.in_flight.pop()

    def feed(self, data: Buffer) -> Message | None:
        """The response to the only request in flight, once all its bytes have arrived; None before
        that. Raises BadPeer."""
        try:
            frames = self._frames.feed(data)
        except WireError as error:
            raise BadPeer(f"it sends {error}") from error
        if not frames:
            return None
        if len(frames) > 1 or self._frames.buffered or self._frames.error:
            raise BadPeer("it sends more than it was asked for")
        return self.receive(frames[0])

    def receive(self, frame: bytes) -> Message:
        """The response to the oldest request in flight, from a frame without its size. Raises
        BadPeer."""
        sent = self.in_flight.popleft()
        name = registry.api(sent.key).name
        try:
            self._check_elements(frame, sent)
            found, answer = headers.read_response(frame, sent.key, sent.version)
        except WireError as error:
            raise BadPeer(f"its answer to {name} version {sent.version} cannot be read: {error}") from error
        if found != sent.correlation_id:
            raise BadPeer(f"its answer to {name} has the correlation id {found} instead of {sent.correlation_id}")
        return answer

    def _check_elements(self, frame: bytes, sent: _InFlightRequest) -> None:
        """Raises WireError for a response that would become far more objects than bytes."""
        most = self._most_elements
        if len(frame) <= most:
            return
        api = registry.api(sent.key)
        tagged = api.response_header_version(sent.version)
        if (tagged and frame[4]) or exceed(api.response, frame, sent.version, 5 if tagged else 4, most):
            raise WireError(f"more than {most} elements, or tags before them")

    def __repr__(self) -> str:
        return f"a connection with {len(self.in_flight)} requests in flight"
