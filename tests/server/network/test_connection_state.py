"""The table of a connection's states, cell by cell, and connections that obey it in random
histories."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, cast

import pytest

from kafkadouble.messages import headers
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafkadouble.server.network.connection import Connection
from kafkadouble.server.network.connection_state import CLOSED, NEXT, OPEN, OVER, TRANSITIONS, Event, State
from kafkadouble.server.node import Node
from kafkadouble.server.requests.answer import DISCONNECT, Answer
from kafkadouble.server.requests.memory_pool import MemoryPool
from kafkadouble.server.requests.request import Peer, Request
from kafkadouble.server.requests.waiting import HandlerTask, Until, Wait, Waiting
from kafkadouble.server.tracing.trace import Trace
from kafkadouble.wire.errors import UsageError
from tests.hostile.stage import Line
from tests.server.harness import NOW
from tests.support.listeners import BROKER

PAIRS = [(state, event) for state in State for event in Event]

STARTS = {
    Event.REQUEST_BEGUN: "waiting",
    Event.THROTTLE_STARTED: "muted",
    Event.PEER_SLOW: "choked",
}
STOPS = {Event.REQUEST_DONE: "waiting", Event.THROTTLE_ENDED: "muted", Event.PEER_DRAINED: "choked"}


def expected(state: State, event: Event) -> State | None:
    """The rule in words of conditions: a name of an open state lists the conditions that hold."""
    if state in OVER:
        if event is Event.REQUEST_BEGUN:
            return None
        return CLOSED if event is Event.LOST else state
    if event in (Event.ENDED, Event.LOST):
        return State.CLOSING if event is Event.ENDED else State.CLOSED
    conditions = set() if state is OPEN else set(state.split(", "))
    if event in STARTS:
        if event is Event.REQUEST_BEGUN and conditions:
            return None
        conditions.add(STARTS[event])
    else:
        if STOPS[event] not in conditions and event is not Event.PEER_DRAINED:
            return None
        conditions.discard(STOPS[event])
    named = [each for each in ("waiting", "muted", "choked") if each in conditions]
    return State(", ".join(named)) if named else OPEN


@pytest.mark.parametrize(("state", "event"), PAIRS)
def test_every_pair_is_decided_and_follows_the_rule(state: State, event: Event) -> None:
    decided = TRANSITIONS[state][event]
    assert decided is expected(state, event)
    if decided is not None:
        assert NEXT[state][event] is decided
        return
    with pytest.raises(UsageError, match=f"a connection that is {state} cannot see that {event}"):
        NEXT[state][event]


def test_only_an_open_connection_begins_a_request() -> None:
    assert [state for state in State if TRANSITIONS[state][Event.REQUEST_BEGUN] is not None] == [OPEN]


def test_every_state_is_reached() -> None:
    reached = {OPEN}
    for _ in State:
        reached |= {found for state in reached for found in TRANSITIONS[state].values() if found is not None}
    assert reached == set(State)


class PlayedNode:
    """As much of a node as a connection touches. The test decides when a request is answered."""

    def __init__(self, model: Model, random: Random) -> None:
        self.waiting, self.trace, self.unsent = Waiting(), Trace(1), 0
        self.intake = MemoryPool(1 << 20, self.waiting.timers)
        self._model, self._random = model, random
        self.reply: Callable[[Answer], None] | None = None

    @property
    def now(self) -> int:
        return self._model.now

    def submit(self, request: Request[Any], reply: Callable[[Answer], None], now: int) -> HandlerTask | None:
        self._model.on_begun(request.correlation_id)
        if self._random.random() < 0.5:
            self._model.waiting = False
            reply(HeartbeatResponse())
            return None
        self.reply = reply
        return self.waiting.start(_never_answered(), reply, _fail)


def _never_answered() -> Wait[Answer]:
    yield Until(None)
    return None


def _fail(failure: Exception) -> None:
    raise failure


class Model:
    """What a connection may do, in four variables."""

    def __init__(self) -> None:
        self.now, self.sent = NOW, 0
        self.begun: list[int] = []
        self.waiting = self.choked = self.over = False
        self.muted_until: int | None = None

    @property
    def may_begin(self) -> bool:
        return not (self.waiting or self.choked or self.over or self.muted_until is not None)

    def on_begun(self, correlation_id: int) -> None:
        assert self.may_begin
        self.waiting = True
        self.begun.append(correlation_id)


class Played:
    """One connection, its model, and what can happen to them."""

    def __init__(self, seed: int) -> None:
        self.random, self.model = Random(seed), Model()
        self.node = PlayedNode(self.model, self.random)
        self.line = Line(keep=True)
        self.connection = Connection(cast(Node, self.node), Peer(1, "a", 1, BROKER), self.line, 1 << 20)
        self._unsent = b""
        self._over_at: tuple[int, int] | None = None
        self.seen: set[State] = set()

    def step(self) -> None:
        """One event, then everything that others let go first."""
        common = [self.send] * 4 + [self.answer] * 4 + [self.choke, self.drain, self.mute, self.pass_time]
        self.random.choice(common * 8 + [self.end, self.disconnect])()
        self.seen.add(self.connection.state)
        while self.line.goes_on:
            self.line.goes_on = False
            self.connection.pump(self.model.now)
        self.check()

    def send(self) -> None:
        for _ in range(self.random.randrange(4)):
            body = HeartbeatRequest(group_id="g", member_id="m")
            self._unsent += b"".join(headers.write_request(body, self.model.sent, "played", 4))
            self.model.sent += 1
        cut = self.random.choice([len(self._unsent), self.random.randrange(len(self._unsent) + 1)])
        piece, self._unsent = self._unsent[:cut], self._unsent[cut:]
        self.connection.receive(piece, self.model.now)

    def answer(self) -> None:
        self._reply(HeartbeatResponse())

    def disconnect(self) -> None:
        if self.node.reply is not None and not self.model.over:
            self.model.over = True
            self._reply(DISCONNECT)

    def _reply(self, answer: Answer) -> None:
        reply, self.node.reply = self.node.reply, None
        if reply is not None:
            self.model.waiting = False
            reply(answer)

    def choke(self) -> None:
        self.model.choked = True
        self.connection.choke(self.random.randrange(1, 1000))

    def drain(self) -> None:
        self.model.choked = False
        self.connection.unchoke(self.model.now)

    def mute(self) -> None:
        until = self.model.now + self.random.randrange(1, 50)
        self.model.muted_until = max(until, self.model.muted_until or 0)
        self.connection.mute(until)

    def pass_time(self) -> None:
        self.model.now += self.random.randrange(40)
        if self.model.muted_until is not None and self.model.muted_until <= self.model.now:
            self.model.muted_until = None
        self.node.waiting.timers.run(self.model.now)

    def end(self) -> None:
        if not self.model.over:
            self.model.over = True
            self.connection.end("is ended by the test")

    def check(self) -> None:
        """In order, once, as soon as it may be, and nothing after the end."""
        model = self.model
        assert model.begun == list(range(len(model.begun)))
        assert self.line.closed == model.over == (self.connection.state in OVER)
        done = len(model.begun), len(self.line.written or ())
        if model.over:
            self._over_at = self._over_at or done
            assert done == self._over_at
            assert not self.connection.backlog
            return
        assert self.line.reads is not bool(self.connection.backlog)
        if model.may_begin:
            assert self.connection.state is OPEN
            assert not self.connection.backlog, "it may begin, and does not"

    def leave(self) -> None:
        """The socket is gone: the memory and the timers that the connection had are given back."""
        self.model.over = True
        self.connection.lost()
        assert self.connection.state is CLOSED
        assert (self.node.intake.total, self.node.unsent) == (0, 0)
        assert self.node.waiting.timers.next_deadline() is None


def test_random_histories_keep_to_the_model(caplog: pytest.LogCaptureFixture) -> None:
    seen: set[State] = set()
    begun = 0
    for seed in range(300):
        played = Played(seed)
        for _ in range(80):
            played.step()
        played.leave()
        seen |= played.seen
        begun += len(played.model.begun)
    assert seen == set(State) - {CLOSED}
    assert begun > 1000


def test_a_muted_connection_goes_on_when_its_time_is_over() -> None:
    played = Played(1)
    connection, model = played.connection, played.model
    connection.mute(NOW + 100)
    model.muted_until = NOW + 100
    connection.mute(NOW + 50)
    frame = b"".join(headers.write_request(HeartbeatRequest(group_id="g", member_id="m"), 0, "played", 4))
    connection.receive(frame, NOW)
    played.node.waiting.timers.run(NOW + 99)
    assert (connection.state, model.begun, played.line.reads) == (State.MUTED, [], False)
    model.muted_until = None
    played.node.waiting.timers.run(NOW + 100)
    assert (connection.state, played.line.goes_on) == (OPEN, True)
    connection.pump(NOW + 100)
    assert (model.begun, played.line.reads) == ([0], True)
