"""The clocks: milliseconds since the epoch, never decreasing.

The core receives `now`; only the shell (listener, thread, cluster) reads a clock. The same value is
used for the timestamps of records and for timeouts, so that a stepped clock moves both.
"""

import time
from typing import Protocol


class Clock(Protocol):
    """A clock."""

    def now(self) -> int:
        """Milliseconds since the epoch."""
        ...


class SystemClock:
    """The system's time at the start plus the monotonic clock: a correction of the wall clock
    expires no session."""

    def __init__(self) -> None:
        self._offset = time.time_ns() - time.monotonic_ns()

    def now(self) -> int:
        return (time.monotonic_ns() + self._offset) // 1_000_000


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
