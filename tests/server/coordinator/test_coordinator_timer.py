"""The keyed timers of a shard: replaced, cancelled, and tried again after a failed write."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.coordinator.coordinator_timer import RETRY_BACKOFF_MS, CoordinatorTimer
from kafkadouble.server.requests.request import Refusal
from kafkadouble.server.requests.timers import Timers

KEY = ("session", "group", "member")


class Clock(SimpleNamespace):
    """A shard as its timers see it: timers, and a time that the test sets."""

    def __init__(self) -> None:
        super().__init__(now=0, timers=Timers())

    def schedule(self, delay_ms: int, action: Any) -> Any:
        return self.timers.at(self.now + delay_ms, action)

    def advance(self, now: int) -> None:
        self.now = now
        self.timers.run(now)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def timers(clock: Clock) -> CoordinatorTimer:
    shard: Any = clock
    return CoordinatorTimer(shard)


def test_a_key_has_one_timer(clock: Clock, timers: CoordinatorTimer) -> None:
    ran: list[str] = []
    timers.schedule(KEY, 10, lambda: ran.append("first"))
    timers.schedule(KEY, 20, lambda: ran.append("second"))
    timers.schedule_if_absent(KEY, 1, lambda: ran.append("third"))
    assert timers.deadline(KEY) == 20
    clock.advance(19)
    assert not ran
    clock.advance(20)
    assert ran == ["second"]
    assert not timers.is_scheduled(KEY)
    assert timers.deadline(KEY) is None


def test_cancelled_timers_do_not_run(clock: Clock, timers: CoordinatorTimer) -> None:
    ran: list[int] = []
    for delay in range(3):
        timers.schedule((delay,), delay, lambda: ran.append(1))
    timers.cancel((0,))
    timers.cancel((7,))
    assert len(timers) == 2
    timers.cancel_all()
    clock.advance(10)
    assert not ran
    assert len(timers) == 0


def test_an_action_may_schedule_its_key_again(clock: Clock, timers: CoordinatorTimer) -> None:
    ran: list[int] = []

    def action() -> None:
        ran.append(clock.now)
        timers.schedule(KEY, 5, action)

    timers.schedule(KEY, 5, action)
    for now in (5, 10, 15):
        clock.advance(now)
    assert ran == [5, 10, 15]


def test_refused_write_of_a_timer_is_retried(clock: Clock, timers: CoordinatorTimer) -> None:
    ran: list[int] = []

    def action() -> None:
        ran.append(clock.now)
        if len(ran) < 3:
            raise Refusal(error_codes.COORDINATOR_NOT_AVAILABLE)

    timers.schedule(KEY, 1, action)
    for now in (1, 1 + RETRY_BACKOFF_MS, 1 + 2 * RETRY_BACKOFF_MS, 1 + 3 * RETRY_BACKOFF_MS):
        clock.advance(now)
    assert ran == [1, 1 + RETRY_BACKOFF_MS, 1 + 2 * RETRY_BACKOFF_MS]
