"""Sends the requests of a broker's coordinators to other brokers, one at a time to each (Kafka's
`InterBrokerSendThread`).

A subclass keeps what is to be sent, by broker, and makes the next request from everything that came
together meanwhile. A request to this broker itself is handled at once, and crosses no connection.
After a failure a broker is left alone for a pause. This file knows no socket and no clock: it is an
`OutboundChannel` for the shell.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.messages.message import Message

from ..configs.listeners import inter_broker_listener_name
from ..raft.request_manager import OutboundRequest, RaftPeer, RequestFailure
from ..raft.voters import VoterEndpoint
from ..requests.listener_spec import of_brokers
from .own_request import send_to_self

if TYPE_CHECKING:
    from .host import CoordinatorHost

BACKOFF_MS = 50
"""The pause after a failure, as `reconnect.backoff.ms` of Kafka's clients."""


class BrokerRequest(NamedTuple):
    """A request to a broker; `items` are what it carries, for `on_response`."""

    body: Message
    version: int
    lowest: int
    items: Any


class InFlightBrokerRequest(NamedTuple):
    """A request that is not answered yet."""

    broker: int
    items: Any


class InterBrokerSender(ABC):
    """The requests of one kind to all brokers."""

    def __init__(self, node: CoordinatorHost) -> None:
        self.node = node
        self._listener = inter_broker_listener_name(node.settings)
        self._tokens = count(1)
        self._in_flight: dict[int, InFlightBrokerRequest] = {}
        self._busy: set[int] = set()
        self._paused_until: dict[int, int] = {}
        self._is_sending_soon = False

    @abstractmethod
    def destinations(self) -> Iterable[int]:
        """The ids of the brokers for which there is something to send."""

    @abstractmethod
    def next_request(self, broker: int) -> BrokerRequest:
        """Returns the request that is due for this broker, once."""

    @abstractmethod
    def on_response(self, broker: int, items: Any, response: Message | RequestFailure) -> None:
        """The response of a broker, or why there is none."""

    def endpoint(self, broker: int) -> VoterEndpoint | None:
        """The endpoint of the broker; None for a broker that is unknown or fenced."""
        found = self.node.image.brokers.get(broker)
        at = None if found is None or found.fenced else found.endpoint(self._listener)
        return None if at is None else VoterEndpoint(at.host, at.port)

    def send_to_self(self) -> None:
        """Handles what is to be sent to this broker. A subclass calls it after it has added
        something."""
        id = self.node.id
        if id in self._busy or id not in self.destinations():
            return
        token = self._begin(id, request := self.next_request(id))
        listener, done = of_brokers(self.node.listeners)[0], partial(self._answered_by_self, token)
        send_to_self(self.node, listener, request.body, request.version, token, done)

    def send_to_self_soon(self) -> None:
        """`send_to_self` when this step is over, so that what the step adds is one request."""
        if not self._is_sending_soon:
            self._is_sending_soon = True
            self.node.waiting.start_soon(self._send_soon)

    def _send_soon(self) -> None:
        self._is_sending_soon = False
        self.send_to_self()

    def _answered_by_self(self, token: int, response: Any) -> None:
        self.answered(token, response if isinstance(response, Message) else RequestFailure.LOST, self.node.now)
        if self.node.id in self.destinations():
            # Not at once: the stack would grow, and others would wait.
            self.node.waiting.start_after_others(self.send_to_self)

    def _begin(self, broker: int, request: BrokerRequest) -> int:
        token = next(self._tokens)
        self._busy.add(broker)
        self._in_flight[token] = InFlightBrokerRequest(broker, request.items)
        return token

    def take_outgoing(self) -> list[OutboundRequest]:
        """The requests to send now; each is taken once."""
        requests = []
        for broker in list(self.destinations()):
            if broker == self.node.id or broker in self._busy or self._paused_until.get(broker, 0) > self.node.now:
                continue
            request, at = self.next_request(broker), self.endpoint(broker)
            if at is None:  # it was fenced since: a subclass may have to look for another broker
                self.on_response(broker, request.items, RequestFailure.LOST)
                continue
            body, version, lowest, _ = request
            requests.append(OutboundRequest(self._begin(broker, request), RaftPeer(broker, at), body, version, lowest))
        return requests

    def answered(self, token: int, response: Message | RequestFailure | None, now: int) -> None:
        """The response to the request with this token, or why there is none."""
        self.node.advance(now)
        sent = self._in_flight.pop(token, None)
        if sent is None:
            return
        self._busy.discard(sent.broker)
        outcome = RequestFailure.LOST if response is None else response
        if isinstance(outcome, RequestFailure):
            self._paused_until[sent.broker] = now + BACKOFF_MS
        else:
            self._paused_until.pop(sent.broker, None)
        self.on_response(sent.broker, sent.items, outcome)

    def tick(self, now: int) -> None:
        """A pause may be over: the shell takes what is outgoing."""
        self.node.advance(now)

    def next_deadline(self) -> int | None:
        """When a pause ends after which there is something to send (ms)."""
        due = [self._paused_until[each] for each in self.destinations() if each in self._paused_until]
        return min((at for at in due if at > self.node.now), default=None)

    def __repr__(self) -> str:
        return f"{len(self._in_flight)} requests in flight to brokers"
