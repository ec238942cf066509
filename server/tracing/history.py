"""What was asked of a node lately, decoded, and how it was answered.

Rules. The memory is bounded by a count and by bytes, oldest out first, and a record batch is never kept: where one stood, stands how many bytes
and records it had. Nor is a secret: what a client sends to authenticate itself is blanked. Nothing here changes a request or an answer.
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

log = logging.getLogger("kafkadouble.requests")

MAX_REQUESTS = 10_000
MAX_BYTES = 8 * 1024 * 1024
OVERHEAD = 512
"""About what a request weighs besides the bytes of its frame."""

LARGE, WORST = 8192, 40
"""A large request is weighed as if it were made of nothing but empty names, which take forty times their bytes."""

_BATCH_HEADER, _COUNT_AT = 61, 57


class Payload:
    """What is left of a record batch: `len` is its bytes; `records` how many it said it had, 0 where that could not be told."""

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
    """One request, and what became of it.

    `time` is when it came (ms), `took` how long its answer took (ms; None while there is none), `errors` the names of the errors that stand in
    the answer, each once. `outcome` is `waiting`, `answered`, `disconnected`, `abandoned` when the client left before, or `unanswered`
    where the protocol has no answer. `broker` is the id of the node that was asked.
    """

    __slots__ = (
        "api",
        "body",
        "broker",
        "client_id",
        "correlation_id",
        "errors",
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
        self.outcome = "waiting"

    @property
    def error(self) -> str | None:
        """The name of the first error in the answer, or None."""
        return self.errors[0] if self.errors else None

    def answered(self, answer: Any, now: int) -> None:
        """Note what became of it; `answer` is a message, None, or the wish to disconnect."""
        self.took = now - self.time
        if hasattr(answer, "_fields"):
            self.outcome, self.errors = "answered", errors_in(answer)
        else:
            self.outcome = "unanswered" if answer is None else "disconnected"
        log.debug("%s: %r in %d ms", self.peer, self, self.took)

    def __repr__(self) -> str:
        errors = f": {', '.join(self.errors)}" if self.errors else ""
        return f"{self.api} v{self.version} #{self.correlation_id} of {self.client_id!r}, {self.outcome}{errors}"


class History:
    """The latest requests of one node."""

    def __init__(self, max_requests: int = MAX_REQUESTS, max_bytes: int = MAX_BYTES) -> None:
        self._max_requests, self._max_bytes = max_requests, max_bytes
        self._kept: deque[tuple[SeenRequest, int]] = deque()
        self._bytes = 0

    def took(self, request: Request[Any], broker: int = -1) -> SeenRequest:
        """Note a request that has come to a node."""
        strip = _STRIP.get(request.api_key)
        body, saved = (request.body, 0) if strip is None else strip(request.body)
        seen = SeenRequest(request, body, broker)
        weight = request.size - saved + OVERHEAD
        if weight > LARGE:
            weight *= WORST
        self._kept.append((seen, weight))
        self._bytes += weight
        while len(self._kept) > self._max_requests or self._bytes > self._max_bytes:
            self._bytes -= self._kept.popleft()[1]
        return seen

    def __iter__(self) -> Iterator[SeenRequest]:
        return (seen for seen, _ in self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def clear(self) -> None:
        """Forget all."""
        self._kept.clear()
        self._bytes = 0

    def __repr__(self) -> str:
        return f"the latest {len(self._kept)} requests, about {self._bytes} bytes"


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
