"""Requests that wait for their turn, by API."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

import pytest

from kafkadouble.server.network import turns
from kafkadouble.server.network.turns import RequestTurns, WaitingConnections

JOIN, PRODUCE, FETCH = 11, 0, 1


def taken(waiting: WaitingConnections) -> None:
    while waiting:
        waiting.take()()


def test_a_flood_of_one_api_does_not_delay_the_others() -> None:
    begun: list[tuple[int, int]] = []
    waiting = WaitingConnections()
    for number in range(1000):
        waiting.add(JOIN, False, partial(begun.append, (JOIN, number)))
    for number in range(2):
        waiting.add(PRODUCE, False, partial(begun.append, (PRODUCE, number)))
        waiting.add(FETCH, False, partial(begun.append, (FETCH, number)))
    taken(waiting)
    assert begun[:7] == [(JOIN, 0), (PRODUCE, 0), (FETCH, 0), (JOIN, 1), (PRODUCE, 1), (FETCH, 1), (JOIN, 2)]
    assert begun[7:] == [(JOIN, number) for number in range(3, 1000)]


def test_an_api_that_comes_again_waits_behind_the_others() -> None:
    begun: list[int] = []
    waiting = WaitingConnections()
    for api_key in (JOIN, FETCH):
        waiting.add(api_key, False, partial(begun.append, api_key))
    waiting.take()()
    waiting.add(JOIN, False, partial(begun.append, JOIN))
    taken(waiting)
    assert begun == [JOIN, FETCH, JOIN]


def test_requests_that_clients_sent_ahead_take_turns_with_the_others() -> None:
    begun: list[str] = []
    waiting = WaitingConnections()
    for number in range(100):
        waiting.add(FETCH, True, partial(begun.append, f"ahead {number}"))
    for number in range(2):
        waiting.add(FETCH, False, partial(begun.append, f"alone {number}"))
    taken(waiting)
    assert begun[:5] == ["ahead 0", "alone 0", "ahead 1", "alone 1", "ahead 2"]


def test_a_round_begins_only_what_its_time_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests of which a turn has time for sixteen: a round begins so many and does nothing for
    the others, and a request of another API is among the first."""
    now, rounds, begun = 0.0, 0, list[int]()
    monkeypatch.setattr(turns, "TURN_S", 1 / 64)
    monkeypatch.setattr(turns, "perf_counter", lambda: now)

    def begin(number: int) -> None:
        nonlocal now
        now += turns.TURN_S / 16
        begun.append(number)

    def go_on(number: int) -> Callable[[], None]:
        return lambda: begin(number)

    async def run() -> None:
        nonlocal rounds
        counts: list[int] = []
        made = RequestTurns(lambda: counts.append(len(begun)))
        for number in range(100):
            made.wait(JOIN, False, go_on(number))
        made.wait(FETCH, False, go_on(-1))
        while len(begun) < 101:
            await asyncio.sleep(0)
            rounds += 1
        assert counts == [16, 32, 48, 64, 80, 96, 101]

    asyncio.run(run())
    assert -1 in begun[:2]
    assert rounds < 20


def test_failed_request_leaves_the_others_their_turns() -> None:
    begun: list[int] = []

    def fail() -> None:
        raise ValueError("a request that fails")

    async def run() -> None:
        failures: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, found: failures.append(found["exception"]))
        made = RequestTurns(lambda: None)
        made.wait(JOIN, False, fail)
        made.wait(JOIN, False, partial(begun.append, 1))
        for _ in range(4):
            await asyncio.sleep(0)
        assert [str(failure) for failure in failures] == ["a request that fails"]

    asyncio.run(run())
    assert begun == [1]
