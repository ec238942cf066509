"""One node without sockets, for tests: messages go in and come out as bytes, at a version, and the
test steps the time.

    cluster = Harness({"num.partitions": 3})
    response = cluster.submit(MetadataRequest(topics=None), 12)
    pending = cluster.begin(FetchRequest(...), 13)     # may wait
    cluster.tick(500)
    pending.response

Everything that is random comes from the seed, so that a failure can be repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

from kafkadouble.messages import headers, registry
from kafkadouble.messages.message import Message
from kafkadouble.server.apis.served import SERVED
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.logs.logs import Logs
from kafkadouble.server.metadata.image import Image, TopicImage
from kafkadouble.server.node import Node
from kafkadouble.server.replica.replication.partition import Partition
from kafkadouble.server.requests.answer import DISCONNECT, Altered, Answer, Disconnection, ExactBody, decoded
from kafkadouble.server.requests.request import Peer, Request
from kafkadouble.server.requests.waiting import HandlerTask
from kafkadouble.server.tracing.trace import ABANDONED, ANSWERED, DISCONNECTED, UNANSWERED
from kafkadouble.wire.file_slice import FileSlice
from tests.support.listeners import listeners_of

NOW = 1_700_000_000_000
SEED = 20261121
SIZE_FIELD = 4


def contents(part: Any) -> bytes:
    """A part of an answer, which may lie in a file."""
    return bytes(part.read() if isinstance(part, FileSlice) else part)


class Pending:
    """A request in flight. `done` once it is answered; `response` is then what the client reads,
    None, or DISCONNECT. `altered` is how a fault rule sends it."""

    def __init__(self, node: Node, request: Request[Any]) -> None:
        self._node, self._request = node, request
        self._version, self._api_key, self._correlation_id = request.version, request.api_key, request.correlation_id
        self.done = False
        self._response: Any = None
        self.altered: Altered | None = None
        self.task: HandlerTask | None = None

    @property
    def response(self) -> Any:
        """The answer. AssertionError while there is none."""
        assert self.done, "the request is not answered yet"
        return self._response

    def answered(self, answer: Answer) -> None:
        """The callback of the node, called once."""
        assert not self.done, "the request was answered twice"
        self.done = True
        if isinstance(answer, Altered):
            self.altered = answer
            if isinstance(answer.message, ExactBody):
                self._response = decoded(answer)
                self._end_trace(ANSWERED, self._response)
                return
            answer = answer.message
        if answer is None or isinstance(answer, Disconnection):
            self._end_trace(UNANSWERED if answer is None else DISCONNECTED, None)
            self._response = answer
            return
        assert not isinstance(answer, Altered), "an answer is altered once"
        self._end_trace(ANSWERED, answer)
        buffers = headers.write_response(answer, self._correlation_id, self._api_key, self._version)
        frame = b"".join(map(contents, buffers))[SIZE_FIELD:]
        correlation_id, self._response = headers.read_response(frame, self._api_key, self._version)
        assert correlation_id == self._correlation_id

    def _end_trace(self, outcome: str, answer: Any) -> None:
        if self._request.trace is not None:
            self._request.trace.end(outcome, self._node.now, answer)

    def close(self) -> None:
        """Ends the connection."""
        if self.task is not None:
            self.task.close()
            self._end_trace(ABANDONED, None)


class Harness:
    """A node with `settings`, whose time stands still until `tick`."""

    def __init__(
        self,
        settings: Mapping[str, object] | None = None,
        *,
        seed: int = SEED,
        now: int = NOW,
        advertised: tuple[str, int] = ("127.0.0.1", 9092),
        logs: Logs | None = None,
    ) -> None:
        self.now = now
        given = Settings(settings)
        listeners = listeners_of(given, advertised)
        self.node = Node(given, listeners=listeners, now=now, seed=seed, logs=logs)
        self.peer = Peer(1, "127.0.0.1", 50_000, listeners[0])
        self._correlation_ids = count(1)

    def submit(self, message: Message, version: int, client_id: str = "test") -> Any:
        """The answer to a request that does not wait: a decoded response, None, or DISCONNECT."""
        pending = self.begin(message, version, client_id)
        while self.node.waiting.is_busy and not pending.done:
            self.node.tick(self.now)
        return pending.response

    def begin(self, message: Message, version: int, client_id: str = "test") -> Pending:
        """Submits a request that may wait."""
        correlation_id = next(self._correlation_ids)
        buffers = headers.write_request(message, correlation_id, client_id, version)
        return self.hand_in(self._decoded(b"".join(map(contents, buffers))[SIZE_FIELD:]))

    def hand_in(self, request: Request[Any]) -> Pending:
        """Submits a request that was read, as a connection does."""
        pending = Pending(self.node, request)
        if self.node.trace.is_on:
            self.node.trace.begin(request)
        pending.task = self.node.submit(request, pending.answered, self.now)
        return pending

    def _decoded(self, frame: bytes) -> Request[Any]:
        head = headers.read_request_header(frame)
        assert SERVED[head.api_key].serves(head.api_version), f"{head!r} is not served"
        body = registry.api(head.api_key).request.decode(frame, head.api_version, head.body_offset)
        return Request(
            head.api_key,
            head.api_version,
            head.correlation_id,
            head.client_id,
            body,
            self.peer,
            received=self.now,
            size=len(frame),
        )

    def tick(self, milliseconds: int) -> None:
        """Lets time pass, and lets the node do what is due."""
        self.now += milliseconds
        self.node.tick(self.now)

    @property
    def image(self) -> Image:
        return self.node.controller.image

    def partition(self, topic: str, index: int = 0) -> Partition:
        """A partition, which must exist."""
        found = self.node.partitions.get(topic, index)
        assert found is not None, f"{topic}-{index} is not led here"
        return found

    def topic(self, name: str) -> TopicImage:
        return self.image.topics[self.image.topic_ids[name]]

    def create(self, *topics: str, partitions: int = 1, configs: Mapping[str, str] | None = None) -> None:
        """Creates topics through the API."""
        from tests.server.topic_requests import creating

        response = self.submit(creating(*topics, partitions=partitions, configs=configs), 7)
        failed = [
            (result.name, result.error_code, result.error_message) for result in response.topics if result.error_code
        ]
        assert not failed, failed


def versions(name: str) -> range:
    """The versions in which an API is served."""
    served = next(served for served in SERVED.values() if served.name == name)
    return range(served.lowest, served.highest + 1)


__all__ = ["DISCONNECT", "NOW", "SEED", "Harness", "Pending", "versions"]
