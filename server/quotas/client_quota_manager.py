"""Counts what clients do against their quotas: Apache Kafka's `ClientQuotaManager` (KIP-13), and
`ClientRequestQuotaManager` for the time of requests (KIP-124).

Rules. Recorded values count, even if they exceed the quota; the throttle time is then the time
until the rate is the quota again. A value that is taken back ("unrecorded") is recorded as
negative. The time of requests is a percentage of one thread, and throttles for at most one window.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import NamedTuple

from .default_quota_callback import DefaultQuotaCallback, Entity, Key, MetricTags
from .rate import Rate
from .sensors import Sensors
from .throttle_time import MAX_THROTTLE_MS, throttle_time_ms

UNLIMITED = sys.float_info.max


class QuotaConfig(NamedTuple):
    """How a rate is measured: `quota.window.num` and `quota.window.size.seconds`."""

    samples: int
    window_s: int

    @property
    def window_ms(self) -> int:
        return self.window_s * 1000


class ClientQuotaManager:
    """The quotas of one kind. `longest_ms` limits the throttle time."""

    def __init__(self, kind: str, config: QuotaConfig, longest_ms: int = MAX_THROTTLE_MS) -> None:
        self.kind, self.config, self._longest_ms = kind, config, longest_ms
        self.callback = DefaultQuotaCallback()
        self.sensors: Sensors[Rate] = Sensors(lambda: Rate(config.samples, config.window_ms))

    @property
    def is_on(self) -> bool:
        """Whether there is a quota of this kind."""
        return bool(self.callback.levels)

    def update(self, quotas: Mapping[Entity, Mapping[str, float]]) -> None:
        """Takes the quotas of an image. Recorded values are kept."""
        self.callback.update(quotas, self.kind)

    def change(self, quotas: Mapping[Key, Mapping[str, float]]) -> None:
        """As `update`, for some clients."""
        self.callback.change(quotas, self.kind)

    def record(self, user: str, client_id: str, value: float, now: int) -> int:
        """Records a value, and returns for how long the client is to be throttled (ms)."""
        if not self.is_on:
            return 0
        tags, rate = self._sensor(user, client_id, now)
        rate.record(value, now)
        limit = self.callback.limit(tags)
        return 0 if limit is None else min(throttle_time_ms(rate, limit, now), self._longest_ms)

    def unrecord(self, user: str, client_id: str, value: float, now: int) -> None:
        """Takes back a value that was recorded."""
        if self.is_on:
            self._sensor(user, client_id, now)[1].record(-value, now)

    def max_value_in_quota_window(self, user: str, client_id: str) -> float:
        """The largest value that may be recorded at once without a throttle time, if nothing else
        was recorded."""
        limit = self.callback.limit(self.callback.tags(user, client_id)) if self.is_on else None
        return UNLIMITED if limit is None else limit * (self.config.samples - 1) * self.config.window_s

    def _sensor(self, user: str, client_id: str, now: int) -> tuple[MetricTags, Rate]:
        tags = self.callback.tags(user, client_id)
        return tags, self.sensors.get(tags, now)

    def __repr__(self) -> str:
        return f"{self.kind}: {self.callback!r}, {len(self.sensors)} sensors"
