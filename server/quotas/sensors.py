"""What is counted for each client: one sensor for each user and client id that are counted
together.

Rules. A sensor without a record for an hour is forgotten, as in Apache Kafka. There are at most
`MAX_SENSORS`, because client ids are arbitrary: beyond it, the one that was used longest ago is
forgotten, and its client begins as a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

IDLE_MS = 3_600_000
MAX_SENSORS = 10_000

S = TypeVar("S")


class Sensors(Generic[S]):
    """The sensors by what they count; `make` makes one."""

    def __init__(self, make: Callable[[], S]) -> None:
        self._make = make
        self._sensors: dict[Hashable, tuple[S, int]] = {}  # with the last use; longest ago first

    def get(self, key: Hashable, now: int) -> S:
        """The sensor for a key, a new one if there is none or if it was idle too long."""
        self.forget_idle(now)
        found = self._sensors.pop(key, None)
        sensor = self._make() if found is None else found[0]
        if len(self._sensors) >= MAX_SENSORS:
            del self._sensors[next(iter(self._sensors))]
        self._sensors[key] = sensor, now
        return sensor

    def forget_idle(self, now: int) -> None:
        while self._sensors:
            oldest = next(iter(self._sensors))
            if now - self._sensors[oldest][1] <= IDLE_MS:
                return
            del self._sensors[oldest]

    def __len__(self) -> int:
        return len(self._sensors)
