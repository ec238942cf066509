"""Keeps the latest requests, decoded, with the outcome of each.

Rules. The memory is bounded by a count and by bytes, and the oldest request is removed first. A
record batch is never kept: a `Payload` in its place has its size and number of records. The bytes
with which a client authenticates itself are blanked. Nothing here changes a request or an answer.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys

from ..requests.answer_errors import codes_in
from ..requests.request import Request
from .trace import ABANDONED, ANSWERED, WAITING, Subscriber, TracedRequest

log = logging.getLogger("kafkadouble.requests")

MAX_REQUESTS = 10_000
MAX_BYTES = 8 * 1024 * 1024
OVERHEAD = 512
"""About what a request weighs besides the bytes of its frame."""

LARGE, WORST = 8192, 40
"""A large request is weighed as if it consisted of empty names, which take forty times their
bytes."""

_BATCH_HEADER, _COUNT_AT = 61, 57


class Payload:
    """What is kept of a record batch: `len` is its size in bytes; `records` is the count in its
    header, 0 if it has none."""

    __slots__ = ("_size", "records")

    def __init__(self, data: bytes | memoryview | None) -> None:
        self._size = 0 if data is None else len(data)
        counted = data is not None and self._size >= _BATCH_HEADER
        self.records = (
            int.from_bytes(data[_COUNT_AT:_BATCH_HEADER], "big", signed=True) if counted and data is not None else 0
        )

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"<{self.records} records in {self._size} bytes>"


class SeenRequest:
    """One request, and its outcome.

    - `api`, `version`, `client_id`, `correlation_id`: the header of the request.
    - `body`: the decoded request, without record batches and secrets. `size`: its size in bytes.
    - `time`: when the request arrived, in ms since the epoch. `took`: how long the answer took, in
      ms; None while the request waits, or if it was abandoned.
    - `outcome`: `waiting`, `answered`, `disconnected` by the broker, `abandoned` if the client left
      before the answer, or `unanswered` if the protocol has no answer.
    - `errors`: the names of the errors in the answer, each once. `error`: the first of them, or
      None.
    - `broker`: the id of the node that received it. `peer`: the other end of the connection.
    - `forwarded`: the request that the active controller received for this one, if a broker
      forwarded it and requests between nodes are kept. There, `forwarded_from` is this one.
    """

    __slots__ = (
        "api",
        "body",
        "broker",
        "client_id",
        "correlation_id",
        "errors",
        "forwarded",
        "forwarded_from",
        "outcome",
        "peer",
        "size",
        "time",
        "took",
        "version",
    )

    def __init__(self, request: Request[Any], body: Any, broker: int = -1) -> None:
        self.api, self.broker = request.peer.apis[request.api_key].name, broker
        self.version, self.client_id, self.correlation_id = request.version, request.client_id, request.correlation_id
        self.peer, self.time, self.size, self.body = repr(request.peer), request.received, request.size, body
        self.took: int | None = None
        self.errors: tuple[str, ...] = ()
        self.outcome = WAITING
        self.forwarded: SeenRequest | None = None
        self.forwarded_from: SeenRequest | None = None

    @property
    def error(self) -> str | None:
        """The name of the first error in the answer, or None."""
        return self.errors[0] if self.errors else None

    def ended(self, outcome: str, answer: Any, now: int) -> None:
        """Records the outcome; the time of an abandoned request means nothing."""
        self.outcome = outcome
        if outcome == ABANDONED:
            return
        self.took = now - self.time
        if outcome == ANSWERED:
            self.errors = errors_in(answer)
        log.debug("%s: %r in %d ms", self.peer, self, self.took)

    def __repr__(self) -> str:
        errors = f": {', '.join(self.errors)}" if self.errors else ""
        return f"{self.api} v{self.version} #{self.correlation_id} of {self.client_id!r}, {self.outcome}{errors}"


class _Kept:
    """The latest requests, bounded by a count and by bytes."""

    def __init__(self, max_requests: int, max_bytes: int) -> None:
        self._max_requests, self._max_bytes = max_requests, max_bytes
        self.requests: deque[tuple[SeenRequest, int]] = deque()
        self.bytes = 0

    def add(self, seen: SeenRequest, weight: int) -> None:
        self.requests.append((seen, weight))
        self.bytes += weight
        while len(self.requests) > self._max_requests or self.bytes > self._max_bytes:
            self.bytes -= self.requests.popleft()[1]

    def clear(self) -> None:
        self.requests.clear()
        self.bytes = 0


class History(Subscriber):
    """The latest requests of clients to one node, or to all nodes that it is subscribed to. With
    `peers` also the requests between nodes, in a separate list."""

    def __init__(self, max_requests: int = MAX_REQUESTS, max_bytes: int = MAX_BYTES, *, peers: bool = False) -> None:
        self.keeps_peers = peers
        self._clients, self._peers = _Kept(max_requests, max_bytes), _Kept(max_requests, max_bytes)

    def begun(self, traced: TracedRequest) -> None:
        if traced.from_node and not self.keeps_peers:
            return
        request = traced.request
        strip = _STRIP.get(request.api_key)
        body, saved = (request.body, 0) if strip is None else strip(request.body)
        traced.seen = seen = SeenRequest(request, body, traced.node_id)
        if traced.forwarded_from is not None:
            self._link(seen, traced.forwarded_from.seen)
        weight = request.size - saved + OVERHEAD
        if weight > LARGE:
            weight *= WORST
        (self._peers if traced.from_node else self._clients).add(seen, weight)

    def _link(self, seen: SeenRequest, client: SeenRequest | None) -> None:
        """Links the request inside an Envelope to the request of the client, if that is kept."""
        if client is not None:
            seen.forwarded_from, client.forwarded = client, seen

    def ended(self, traced: TracedRequest) -> None:
        if traced.seen is not None:
            traced.seen.ended(traced.outcome, traced.answer, traced.ended_ms)

    def of_peers(self) -> list[SeenRequest]:
        """The latest requests between nodes, oldest first."""
        return [seen for seen, _ in self._peers.requests]

    def __iter__(self) -> Iterator[SeenRequest]:
        return (seen for seen, _ in self._clients.requests)

    def __len__(self) -> int:
        return len(self._clients.requests)

    def clear(self) -> None:
        """Removes the requests of clients."""
        self._clients.clear()

    def clear_peers(self) -> None:
        """Removes the requests between nodes."""
        self._peers.clear()

    def __repr__(self) -> str:
        return f"the latest {len(self)} requests, about {self._clients.bytes} bytes"


def _without_records(body: Any) -> tuple[Any, int]:
    """A ProduceRequest with payloads in place of record batches, and how many bytes that saves."""
    saved, topics = 0, []
    for topic in body.topic_data:
        partitions = []
        for data in topic.partition_data:
            stripped = copy(data)
            stripped.records = Payload(data.records)
            saved += len(stripped.records)
            partitions.append(stripped)
        slim = copy(topic)
        slim.partition_data = partitions
        topics.append(slim)
    made = copy(body)
    made.topic_data = topics
    return made, saved


def _without_secret(body: Any) -> tuple[Any, int]:
    made = copy(body)
    made.auth_bytes = b""
    return made, len(body.auth_bytes)


_STRIP: dict[int, Callable[[Any], tuple[Any, int]]] = {
    ApiKeys.PRODUCE: _without_records,
    ApiKeys.SASL_AUTHENTICATE: _without_secret,
}


def errors_in(answer: Any) -> tuple[str, ...]:
    """The names of all errors in a response, each once, outermost first."""
    return tuple(map(error_codes.name, codes_in(answer)))
