"""The time limit and the backoff of retries.

Rules. The wait doubles from `retry.backoff.ms` to `retry.backoff.max.ms`, minus a random part of up
to a fifth, so that many clients do not retry at the same time. The error at the time limit contains
the last error.
"""

from __future__ import annotations

import random
import time

from .errors import ClientError, TimedOut
from .settings import ClientSettings

DOUBLINGS = 20
SHORTEST_S = 3.0
"""The shortest time of the last attempt in seconds."""


class Patience:
    """The time limit of one operation; `what` names the operation."""

    def __init__(self, settings: ClientSettings, what: str, limit: str = "default.api.timeout.ms") -> None:
        self.what, self.limit = what, limit
        self._allowed = settings.seconds(limit)
        self._first, self._most = settings.seconds("retry.backoff.ms"), settings.seconds("retry.backoff.max.ms")
        self.progress()

    def progress(self) -> None:
        """Restarts the time limit after progress."""
        self._end = time.monotonic() + self._allowed
        self._failures = 0

    def left(self) -> float:
        """Seconds for an attempt that begins now."""
        return max(SHORTEST_S, self.remaining())

    def remaining(self) -> float:
        """Seconds until the time limit."""
        return max(0.0, self._end - time.monotonic())

    def pause(self, trouble: str, kind: type[ClientError] = TimedOut) -> None:
        """Waits before the next attempt. Raises `kind` if no time is left for another attempt."""
        self.check(trouble, kind)
        wait = min(self._first * (1 << min(self._failures, DOUBLINGS)), self._most)
        self._failures += 1
        time.sleep(min(wait * random.uniform(0.8, 1), self.remaining()))

    def check(self, trouble: str, kind: type[ClientError] = TimedOut) -> None:
        """Raises `kind` if no time is left, without waiting."""
        if time.monotonic() >= self._end:
            raise kind(f"{self.what}: not within {round(self._allowed * 1000)} ms ({self.limit}): {trouble}")
