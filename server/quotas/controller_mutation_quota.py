"""The quota of controller mutations: how many partitions a client may create or delete per second
(KIP-599).

Rules. The quota is a token bucket. It is strict in the newer versions of a request: while tokens
are missing, a topic fails with THROTTLING_QUOTA_EXCEEDED and takes no tokens. In older versions it
is permissive: everything is done, and the client is throttled. The throttle time is the time until
the bucket is refilled, less the time since it was found out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafkadouble.messages import error_codes

from ..requests.request import Refusal
from .client_quota_manager import QuotaConfig
from .default_quota_callback import DefaultQuotaCallback, Entity, Key, MetricTags
from .rate import MS_PER_S
from .sensors import Sensors
from .throttle_time import MAX_THROTTLE_MS, java_round


class TokenBucket:
    """A token bucket, which is full at first: Apache Kafka's `TokenBucket` (KIP-599).

    Tokens are added all the time, `bound` per second, up to the burst: as many as the bound allows
    in `count` samples of `length_ms` each. Each mutation removes tokens, also more than the bucket
    has; the bucket is then negative, and nothing is allowed until it is refilled to 0. The bound
    may change from one call to the next.
    """

    __slots__ = ("_burst_s", "_last", "_tokens")

    def __init__(self, count: int, length_ms: int) -> None:
        self._burst_s = count * (length_ms / MS_PER_S)
        self._tokens, self._last = 0.0, 0

    def measure(self, bound: float, now: int) -> float:
        """How many tokens there are; negative if too much was done."""
        refilled = self._tokens + bound * ((now - self._last) / MS_PER_S)
        self._tokens, self._last = min(self._burst_s * bound, refilled), now
        return self._tokens

    def record(self, value: float, bound: float, now: int) -> None:
        """Takes tokens out; a negative value puts tokens back."""
        self._tokens = min(self._burst_s * bound, self.measure(bound, now) - value)

    def __repr__(self) -> str:
        return f"{self._tokens} tokens"


KIND = "controller_mutation_rate"

ApplyQuota = Callable[[int], None]
"""Called with the number of partitions that a topic gets or loses. Raises
Refusal(THROTTLING_QUOTA_EXCEEDED)."""


def without_quota(partitions: int) -> None:
    """Applies no quota."""


class ControllerMutationQuotaManager:
    """The quotas of controller mutations."""

    def __init__(self, config: QuotaConfig) -> None:
        self.config, self.callback = config, DefaultQuotaCallback()
        self.sensors: Sensors[TokenBucket] = Sensors(lambda: TokenBucket(config.samples, config.window_ms))

    @property
    def is_on(self) -> bool:
        """Whether there is a quota of this kind."""
        return bool(self.callback.levels)

    def update(self, quotas: Mapping[Entity, Mapping[str, float]]) -> None:
        """Takes the quotas of an image."""
        self.callback.update(quotas, KIND)

    def change(self, quotas: Mapping[Key, Mapping[str, float]]) -> None:
        """As `update`, for some clients."""
        self.callback.change(quotas, KIND)

    def quota_for(self, user: str, client_id: str, *, strict: bool, now: int) -> ControllerMutationQuota | None:
        """The quota of a client for one request; None if it has none."""
        if not self.is_on:
            return None
        tags = self.callback.tags(user, client_id)
        limit = self.callback.limit(tags)
        return None if limit is None else ControllerMutationQuota(self, tags, limit, strict=strict, now=now)

    def __repr__(self) -> str:
        return f"{KIND}: {self.callback!r}, {len(self.sensors)} sensors"


class ControllerMutationQuota:
    """The quota of one request, which is decided at the time `now`."""

    def __init__(
        self, manager: ControllerMutationQuotaManager, tags: MetricTags, limit: float, *, strict: bool, now: int
    ) -> None:
        self._bucket = manager.sensors.get(tags, now)
        self._limit, self._strict, self._now = limit, strict, now
        self._throttle_time_ms = self._recorded = 0

    def record(self, partitions: int) -> None:
        """Counts partitions that are to be created or deleted. Raises
        Refusal(THROTTLING_QUOTA_EXCEEDED) if they may not be."""
        if self._strict and self._is_exceeded():
            raise Refusal(error_codes.THROTTLING_QUOTA_EXCEEDED)
        self._bucket.record(partitions, self._limit, self._now)
        self._recorded += partitions
        if not self._strict:
            self._is_exceeded()

    def give_back(self) -> None:
        """Gives back the tokens that were taken: the request is decided again."""
        self._bucket.record(-self._recorded, self._limit, self._now)
        self._recorded = 0

    def _is_exceeded(self) -> bool:
        """Whether tokens are missing, which sets the throttle time."""
        tokens = self._bucket.measure(self._limit, self._now)
        if tokens >= 0:
            return False
        self._throttle_time_ms = min(java_round(-tokens / self._limit * 1000), MAX_THROTTLE_MS)
        return True

    def throttle_time_ms(self, now: int) -> int:
        """For how long the client is to be throttled, from `now` on."""
        return max(0, self._throttle_time_ms - (now - self._now))
