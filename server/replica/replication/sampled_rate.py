"""Bytes per second over the recent past: Apache Kafka's `SimpleRate` of a sampled sum.

Rules. Bytes are recorded in the current sample, which lasts `length_ms`; then the next sample
begins. There is one sample more than are counted. A sample without a record for the length of all
counted samples is reset. The rate is the sum of all samples over the time since the oldest sample
began, but at least over the length of one. The first sample begins with the first measurement or
record. This module has no clock: `now` is in ms.
"""

from __future__ import annotations


class RateSample:
    """The bytes since `start`; `last` is the time of the last record."""

    __slots__ = ("bytes", "last", "start")

    def __init__(self, now: int) -> None:
        self.reset(now)

    def reset(self, now: int) -> None:
        self.bytes, self.start, self.last = 0, now, now


class SampledRate:
    """A rate over `count` samples of `length_ms` each."""

    __slots__ = ("_current", "_samples", "count", "length_ms")

    def __init__(self, count: int, length_ms: int) -> None:
        self.count, self.length_ms = count, length_ms
        self._samples: list[RateSample] = []
        self._current = 0

    def record(self, size_bytes: int, now: int) -> None:
        if not self._samples:
            self._samples.append(RateSample(now))
        sample = self._samples[self._current]
        if now - sample.start >= self.length_ms:
            sample = self._next(now)
        sample.bytes += size_bytes
        sample.last = now

    def _next(self, now: int) -> RateSample:
        self._current = (self._current + 1) % (self.count + 1)
        if self._current == len(self._samples):
            self._samples.append(RateSample(now))
        else:
            self._samples[self._current].reset(now)
        return self._samples[self._current]

    def measure(self, now: int) -> float:
        """Return the rate in bytes per second."""
        if not self._samples:
            self._samples.append(RateSample(now))
        for sample in self._samples:
            if now - sample.last >= self.count * self.length_ms:
                sample.reset(now)
        since = max(self.length_ms, now - min(sample.start for sample in self._samples))
        return sum(sample.bytes for sample in self._samples) * 1000 / since

    def __repr__(self) -> str:
        return f"{sum(sample.bytes for sample in self._samples)} bytes in {len(self._samples)} samples"
