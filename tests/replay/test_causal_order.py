"""The order of a replay: what a client may have known comes first, and nothing waits for ever."""

from __future__ import annotations

import random

import pytest

from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.join_group import JoinGroupRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.message import Message
from kafkadouble.replay.recorded.causal_order import CausalOrder
from kafkadouble.replay.recorded.exchange import Exchange
from tests.support.recorded_sessions import exchange

KINDS: tuple[tuple[Message, int], ...] = (
    (MetadataRequest(topics=[]), 12),
    (ProduceRequest(), 9),
    (FetchRequest(), 12),
    (JoinGroupRequest(), 5),
)


def timed(number: int, began: int, ended: int, kind: int = 0, connection: str = "1") -> Exchange:
    request, version = KINDS[kind]
    return exchange(request, None, version, number=number, connection=connection, began_us=began, ended_us=ended)


def test_a_request_waits_for_answers_that_were_known() -> None:
    first, second, third = timed(1, 0, 10), timed(2, 5, 20, connection="2"), timed(3, 11, 30, connection="3")
    order = CausalOrder([first, second, third])
    assert order.may_begin(first)
    assert order.may_begin(second), "it came before the answer to the first"
    assert not order.may_begin(third)
    order.done(first)
    assert order.may_begin(third), "the second had no answer yet"


def test_a_fetch_waits_for_the_writes_that_it_found() -> None:
    fetch, produce = timed(1, 0, 20, kind=2), timed(2, 5, 15, kind=1, connection="2")
    order = CausalOrder([fetch, produce])
    assert not order.may_begin(fetch)
    order.done(produce)
    assert order.may_begin(fetch)


def test_members_that_join_together_do_not_wait_for_each_other() -> None:
    one, other = timed(1, 0, 20, kind=3), timed(2, 5, 21, kind=3, connection="2")
    order = CausalOrder([one, other])
    assert order.may_begin(one)
    assert order.may_begin(other)


def session(rng: random.Random) -> list[Exchange]:
    """Some connections, on which requests are sent before their answers come."""
    found = []
    for connection in range(rng.randint(1, 5)):
        began = ended = 0
        for _ in range(rng.randint(1, 12)):
            began += rng.randint(0, 6)
            ended = max(began, ended) + rng.randint(0, 9)
            found.append((began, ended, rng.randrange(4), str(connection)))
    found.sort(key=lambda times: times[0])
    return [timed(number, *times) for number, times in enumerate(found, 1)]


@pytest.mark.parametrize("seed", range(100))
def test_every_session_comes_to_its_end(seed: int) -> None:
    """Requests are sent in the order of their connection, and answered in any order that a server
    may choose: at each point something can go on."""
    rng = random.Random(seed)
    exchanges = session(rng)
    order, waiting, under_way = CausalOrder(exchanges), list(exchanges), list[Exchange]()
    while waiting or under_way:
        heads = {each.connection: each for each in reversed(waiting)}.values()
        ready = [head for head in heads if order.may_begin(head)]
        answered = list({each.connection: each for each in reversed(under_way)}.values())
        assert ready or answered, f"seed {seed}: {waiting} wait for ever"
        chosen = rng.choice([*ready, *answered])
        if chosen in ready:
            assert not any(each.ended_us < chosen.began_us for each in [*waiting, *under_way] if each is not chosen)
            waiting.remove(chosen)
            under_way.append(chosen)
        else:
            under_way.remove(chosen)
            order.done(chosen)


@pytest.mark.parametrize("seed", range(100))
def test_a_server_that_answers_as_recorded_is_never_waited_for(seed: int) -> None:
    """The server answers a request only when everything that the recorded server had answered
    before has its answer: even then the session comes to its end."""
    exchanges = session(random.Random(seed))
    order, waiting, under_way = CausalOrder(exchanges), list(exchanges), list[Exchange]()
    by_end = sorted(exchanges, key=lambda exchange: (exchange.ended_us, exchange.number))
    while by_end:
        heads = {each.connection: each for each in reversed(waiting)}.values()
        for each in [head for head in heads if order.may_begin(head)]:
            waiting.remove(each)
            under_way.append(each)
        if by_end[0] in under_way:
            order.done(by_end.pop(0))
        else:
            assert any(order.may_begin(head) for head in {each.connection: each for each in reversed(waiting)}.values())
