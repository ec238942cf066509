"""How long something is tried again, and how long one waits in between.

Rules. The wait doubles from `retry.backoff.ms` to `retry.backoff.max.ms`, less up to a fifth by chance, so that many clients do not come back
at once. Whoever gives up says what the last trouble was.
"""

from __future__ import annotations

import random
import time

from .errors import ClientError, TimedOut
from .settings import ClientSettings

DOUBLINGS = 20
SHORTEST_S = 3.0
"""An attempt that is begun late has so long, or it would be none."""


class Patience:
    """Time for one thing, `what`, to succeed in."""

    def __init__(self, settings: ClientSettings, what: str, limit: str = "default.api.timeout.ms") -> None:
        self.what, self.limit = what, limit
        self._allowed = settings.seconds(limit)
        self._first, self._most = settings.seconds("retry.backoff.ms"), settings.seconds("retry.backoff.max.ms")
        self.progress()

    def progress(self) -> None:
        """It went well so far: time begins anew."""
        self._end = time.monotonic() + self._allowed
        self._failures = 0

    def left(self) -> float:
        """Seconds for an attempt that begins now."""
        return max(SHORTEST_S, self.remaining())

    def remaining(self) -> float:
        """Seconds until it is over."""
        return max(0.0, self._end - time.monotonic())

    def pause(self, trouble: str, kind: type[ClientError] = TimedOut) -> None:
        """Wait before the next attempt; `kind` when there is no time for another one."""
        self.check(trouble, kind)
        wait = min(self._first * (1 << min(self._failures, DOUBLINGS)), self._most)
        self._failures += 1
        time.sleep(min(wait * random.uniform(0.8, 1), self.remaining()))

    def check(self, trouble: str, kind: type[ClientError] = TimedOut) -> None:
        """The same for an attempt that need not wait."""
        if time.monotonic() >= self._end:
            raise kind(f"{self.what}: not within {round(self._allowed * 1000)} ms ({self.limit}): {trouble}")
