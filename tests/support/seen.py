"""Sequences of seen requests, without a broker: for tests of what reads the request history."""

from __future__ import annotations

from kafkadouble.messages import registry
from kafkadouble.messages.message import Message
from kafkadouble.seen.requests import Requests
from kafkadouble.server.requests.request import Peer, Request
from kafkadouble.server.tracing.history import History, SeenRequest
from kafkadouble.server.tracing.trace import ANSWERED, Trace
from tests.support.listeners import BROKER

NOW = 1_700_000_000_000


class Session:
    """A history, and a clock in ms that each request moves on by the time that it took."""

    def __init__(self, history: History | None = None) -> None:
        self.history = history or History()
        self.now = NOW
        self.correlation_id = 0
        self._traces: dict[int, Trace] = {}
        self._peers: dict[int, Peer] = {}

    def request(
        self,
        body: Message,
        answer: Message | None = None,
        version: int | None = None,
        *,
        took: int = 0,
        client_id: str = "app",
        connection: int = 1,
        broker: int = 1,
        outcome: str = ANSWERED,
        size: int = 100,
    ) -> SeenRequest:
        """A request and its outcome; an answer of defaults unless one is given."""
        assert body.api_key is not None
        served = BROKER.apis[body.api_key]
        trace = self._traces.setdefault(broker, Trace(broker))
        if not trace.is_on:
            trace.subscribe(self.history)
        self.correlation_id += 1
        request = Request(
            body.api_key,
            served.highest if version is None else version,
            self.correlation_id,
            client_id,
            body,
            self._peers.setdefault(connection, Peer(connection, "127.0.0.1", 40_000 + connection, BROKER)),
            received=self.now,
            size=40,
        )
        self.now += took
        answered = (answer or registry.api(body.api_key).response()) if outcome == ANSWERED else None
        trace.begin(request).end(outcome, self.now, answered, size if answered else None)
        return list(self.history)[-1]

    @property
    def requests(self) -> Requests:
        return Requests(lambda look: look(self.history))
