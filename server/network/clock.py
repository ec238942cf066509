"""What time it is: milliseconds since the epoch, never going backwards.

The core is handed `now`; only the shell (listener, thread, cluster) asks a clock. One figure serves both as the timestamp of records and as
the measure of time-outs, so that a stepped clock moves everything at once.
"""

import time
from typing import Protocol


class Clock(Protocol):
    """Anything that can tell `now`."""

    def now(self) -> int:
        """Milliseconds since the epoch."""
        ...


class SystemClock:
    """The machine's time at the start, carried on by the monotonic clock: a corrected wall clock expires nobody's session."""

    def __init__(self) -> None:
        self._offset = time.time_ns() - time.monotonic_ns()

    def now(self) -> int:
        return (time.monotonic_ns() + self._offset) // 1_000_000


class SteppedClock:
    """A clock that stands still until it is advanced."""

    def __init__(self, now: int = 1_700_000_000_000) -> None:
        self._now = now

    def now(self) -> int:
        return self._now

    def advance(self, milliseconds: int) -> int:
        """Move on, and tell the new time."""
        if milliseconds < 0:
            raise ValueError("time does not go backwards")
        self._now += milliseconds
        return self._now
