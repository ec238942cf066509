"""A token bucket: Apache Kafka's `TokenBucket`, for controller mutations (KIP-599).

Rules. Tokens are added all the time, `bound` per second, up to the burst: as many as the bound
allows in all samples. What is done takes tokens out, also more than there are; the bucket is then
negative, and nothing is allowed until it is refilled to 0. The bound may change from one call to
the next.
"""

from __future__ import annotations

from .rate import MS_PER_S


class TokenBucket:
    """A bucket that is full at first. The burst is that of `count` samples of `length_ms` each."""

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
