"""The counts of each client: one sensor for each user and client id that are counted together.

Rules. A sensor without a record for an hour is forgotten, as in Apache Kafka. All take at most
`MAX_SENSORS_BYTES`, because client ids are arbitrary: beyond it, those that were used longest ago
are forgotten, and their clients begin as new ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from ..requests.kept_bytes import text_bytes

IDLE_MS = 3_600_000
MAX_SENSORS_BYTES = 32 << 20
"""The most bytes that the sensors of one kind take, by estimate: 14,000 of them with short names,
or 1,000 with the longest names that a client may have.
"""

SENSOR_BYTES = 2000
"""The memory of a sensor without its names: a rate with the default of 11 samples."""

S = TypeVar("S")

SensorKey = str | tuple[str, ...]
"""The name or the names that are counted together."""


def size_bytes_of(key: SensorKey) -> int:
    """The bytes that a sensor takes, by estimate."""
    return SENSOR_BYTES + sum(map(text_bytes, (key,) if isinstance(key, str) else key))


class Sensors(Generic[S]):
    """The sensors by what they count; `make` makes one."""

    def __init__(self, make: Callable[[], S]) -> None:
        self._make = make
        self._sensors: dict[SensorKey, tuple[S, int]] = {}  # with the last use; longest ago first
        self.size_bytes = 0

    def get(self, key: SensorKey, now: int) -> S:
        """The sensor for a key, a new one if there is none or if it was idle too long."""
        self.forget_idle(now)
        found = self._sensors.pop(key, None)
        if found is None:
            sensor = self._make()
            self._make_room(size_bytes_of(key))
        else:
            sensor = found[0]
        self._sensors[key] = sensor, now
        return sensor

    def _make_room(self, size_bytes: int) -> None:
        while self._sensors and self.size_bytes + size_bytes > MAX_SENSORS_BYTES:
            self._forget(next(iter(self._sensors)))
        self.size_bytes += size_bytes

    def _forget(self, key: SensorKey) -> None:
        del self._sensors[key]
        self.size_bytes -= size_bytes_of(key)

    def forget_idle(self, now: int) -> None:
        while self._sensors:
            oldest = next(iter(self._sensors))
            if now - self._sensors[oldest][1] <= IDLE_MS:
                return
            self._forget(oldest)

    def __len__(self) -> int:
        return len(self._sensors)
