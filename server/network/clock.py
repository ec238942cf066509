"""The clocks: milliseconds since the epoch, never decreasing.

The core receives `now`; only the shell (listener, thread, cluster) reads a clock. The same value is
used for the timestamps of records and for timeouts, so that a stepped clock moves both. A clock
that stands still, because it is stepped or frozen, has no timers: what is due happens when it is
advanced.
"""

from __future__ import annotations

import time
from typing import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

NANOS_PER_MS = 1_000_000


class Clock(Protocol):
    """A clock."""

    def now(self) -> int:
        """Milliseconds since the epoch."""
        ...


class SystemClock:
    """The system's time at the start plus the monotonic clock: a correction of the wall clock
    expires no session. It can be frozen, and made faster or slower; it never goes backwards. Only
    one thread changes it."""

    def __init__(self) -> None:
        self._factor: Fraction | None = None
        # The time is (monotonic nanoseconds * first + second) // third. One value, so that a thread
        # that reads it meanwhile finds three that belong together.
        self._rate = 1, time.time_ns() - time.monotonic_ns(), NANOS_PER_MS

    def now(self) -> int:
        times, offset, per_ms = self._rate
        return (time.monotonic_ns() * times + offset) // per_ms

    def nanos(self) -> int:
        """Nanoseconds since the epoch."""
        times, offset, per_ms = self._rate
        return (time.monotonic_ns() * times + offset) * NANOS_PER_MS // per_ms

    @property
    def is_frozen(self) -> bool:
        """Whether it stands still."""
        return not self._rate[0]

    @property
    def factor(self) -> Fraction | None:
        """How many times as fast as the system's clock it goes, or will when it goes on; None
        unless that was set."""
        return self._factor

    @property
    def is_changed(self) -> bool:
        """Whether it is frozen or scaled."""
        return self._factor is not None or self.is_frozen

    def freeze(self) -> None:
        """Stand still from now on."""
        self._rate = 0, self.now(), 1

    def unfreeze(self) -> None:
        """Goes on from the time at which it stands, as fast as before."""
        if self.is_frozen:
            self._run()

    def scale(self, factor: float) -> None:
        """Goes this many times as fast as the system's clock; a frozen clock does so later."""
        from fractions import Fraction

        self._factor = Fraction(factor).limit_denominator(NANOS_PER_MS)
        if not self.is_frozen:
            self._run()

    def _run(self) -> None:
        times, per_ms = 1, NANOS_PER_MS
        if self._factor is not None:
            times, per_ms = self._factor.numerator, self._factor.denominator * NANOS_PER_MS
        # The part of a millisecond that has passed is lost: the time that was read last stays.
        self._rate = times, self.now() * per_ms - time.monotonic_ns() * times, per_ms

    def restore(self) -> None:
        """Goes as fast as the system's clock again, from the time that it shows."""
        if self.is_changed:
            self._factor = None
            self._run()

    def advance(self, milliseconds: int) -> int:
        """Moves a frozen clock on, and returns the new time in ms since the epoch."""
        if milliseconds < 0 or not self.is_frozen:
            raise ValueError("only a frozen clock is advanced, and time does not go backwards")
        self._rate = 0, self._rate[1] + milliseconds, 1
        return self._rate[1]

    def real_seconds(self, milliseconds: int) -> float:
        """How long the system's clock takes for so many milliseconds of this one."""
        times, _, per_ms = self._rate
        return milliseconds * per_ms / (times * NANOS_PER_MS * 1000)


class SteppedClock:
    """A clock that moves only when it is advanced. It starts at `now`, in ms since the epoch."""

    def __init__(self, now: int = 1_700_000_000_000) -> None:
        self._now = now

    def now(self) -> int:
        return self._now

    def advance(self, milliseconds: int) -> int:
        """Moves the clock on, and returns the new time in ms since the epoch."""
        if milliseconds < 0:
            raise ValueError("time does not go backwards")
        self._now += milliseconds
        return self._now


AdvancingClock = SteppedClock | SystemClock
"""A clock that can be advanced while it stands still."""


def stands_still(clock: Clock) -> bool:
    """Whether the clock moves only when it is advanced."""
    return isinstance(clock, SteppedClock) or (isinstance(clock, SystemClock) and clock.is_frozen)


def nanos_of(clock: Clock) -> Callable[[], int]:
    """The same clock in nanoseconds. It stands still when the clock does."""
    return clock.nanos if isinstance(clock, SystemClock) else lambda: clock.now() * NANOS_PER_MS


def seconds_of(clock: Clock, milliseconds: int) -> float:
    """How many seconds a timer waits for so many milliseconds of a clock that runs."""
    return clock.real_seconds(milliseconds) if isinstance(clock, SystemClock) else milliseconds / 1000
