"""The machine's clock: frozen, faster, slower, and never backwards."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from kafkadouble.server.network.clock import SteppedClock, SystemClock, seconds_of, stands_still


class Nanos:
    """What the clock reads of the machine."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 123_456_789
        monkeypatch.setattr(time, "monotonic_ns", lambda: self.now)
        monkeypatch.setattr(time, "time_ns", lambda: self.now + 1_700_000_000 * 10**9)

    def pass_ms(self, milliseconds: float) -> None:
        self.now += int(milliseconds * 1_000_000)


@pytest.fixture
def nanos(monkeypatch: pytest.MonkeyPatch) -> Nanos:
    return Nanos(monkeypatch)


def test_clock_follows_the_machine(nanos: Nanos) -> None:
    clock = SystemClock()
    start = clock.now()
    nanos.pass_ms(5)
    assert (clock.now() - start, stands_still(clock), seconds_of(clock, 1500)) == (5, False, 1.5)


def test_clock_stops_and_continues(nanos: Nanos) -> None:
    clock = SystemClock()
    start = clock.now()
    clock.freeze()
    clock.freeze()
    nanos.pass_ms(1000)
    assert clock.now() == start
    assert stands_still(clock)
    assert clock.advance(7) == start + 7
    clock.unfreeze()
    clock.unfreeze()
    assert (clock.now(), stands_still(clock)) == (start + 7, False)
    nanos.pass_ms(3)
    assert clock.now() == start + 10


def test_clock_changes_its_speed(nanos: Nanos) -> None:
    clock = SystemClock()
    start = clock.now()
    clock.scale(10)
    nanos.pass_ms(2)
    assert (clock.now() - start, seconds_of(clock, 1500)) == (20, 0.15)
    clock.scale(0.1)
    nanos.pass_ms(20)
    assert (clock.now() - start, seconds_of(clock, 1500)) == (22, 15)
    clock.freeze()
    clock.scale(2)
    nanos.pass_ms(100)
    assert clock.now() - start == 22
    clock.unfreeze()
    nanos.pass_ms(4)
    assert clock.now() - start == 30
    clock.restore()
    nanos.pass_ms(4)
    assert clock.now() - start == 34


CHANGES: tuple[Callable[[SystemClock], object], ...] = (
    SystemClock.freeze,
    SystemClock.unfreeze,
    SystemClock.restore,
    lambda clock: clock.scale(1_000_000),
    lambda clock: clock.scale(1 / 1_000_000),
    lambda clock: clock.scale(0.3333),
)


def test_clock_never_goes_backwards(nanos: Nanos) -> None:
    clock = SystemClock()
    for number in range(2000):
        before = clock.now()
        CHANGES[(number * 7 + number // 6) % len(CHANGES)](clock)
        assert clock.now() >= before
        nanos.pass_ms(number % 13 / 10)
        assert clock.now() >= before


def test_only_a_frozen_clock_is_advanced() -> None:
    clock = SystemClock()
    with pytest.raises(ValueError, match="only a frozen clock"):
        clock.advance(1)
    clock.freeze()
    with pytest.raises(ValueError, match="backwards"):
        clock.advance(-1)
    assert stands_still(SteppedClock())
