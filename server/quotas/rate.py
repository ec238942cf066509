"""Values per second over the recent past: Apache Kafka's `Rate` of a sampled sum.

Rules. Values are recorded in the current sample, which lasts `length_ms`; then the next sample
begins. There is one sample more than are counted. A sample without a record for the length of all
counted samples is reset. The rate is the sum of all samples over the time since the oldest sample
began. It is assumed that all samples but one are full: at the beginning the time is made longer by
those that are missing, and it is at least 1 ms. So a client may begin with as much as the quota
allows in all samples but one.
"""

from __future__ import annotations

MS_PER_S = 1000.0


class Sample:
    """The sum of the values since `start`; `last` is the time of the last record."""

    __slots__ = ("last", "start", "value")

    def __init__(self, now: int) -> None:
        self.reset(now)

    def reset(self, now: int) -> None:
        self.value: float = 0
        self.start, self.last = now, now


class SampledSum:
    """A sum over `count` samples of `length_ms` each."""

    __slots__ = ("_current", "count", "length_ms", "samples")

    def __init__(self, count: int, length_ms: int) -> None:
        self.count, self.length_ms = count, length_ms
        self.samples: list[Sample] = []
        self._current = 0

    def record(self, value: float, now: int) -> None:
        if not self.samples:
            self.samples.append(Sample(now))
        sample = self.samples[self._current]
        if now - sample.start >= self.length_ms:
            sample = self._next(now)
        sample.value += value
        sample.last = now

    def _next(self, now: int) -> Sample:
        self._current = (self._current + 1) % (self.count + 1)
        if self._current == len(self.samples):
            self.samples.append(Sample(now))
        else:
            self.samples[self._current].reset(now)
        return self.samples[self._current]

    def purge(self, now: int) -> None:
        """Resets the samples without a record in the time that counts; the first call begins the
        first sample."""
        if not self.samples:
            self.samples.append(Sample(now))
        for sample in self.samples:
            if now - sample.last >= self.count * self.length_ms:
                sample.reset(now)

    @property
    def total(self) -> float:
        return sum(sample.value for sample in self.samples)

    def elapsed_ms(self, now: int) -> int:
        """The time since the oldest sample began."""
        return now - min(sample.start for sample in self.samples)

    def __repr__(self) -> str:
        return f"{self.total} in {len(self.samples)} samples"


class Rate(SampledSum):
    """A rate per second."""

    __slots__ = ()

    def window_ms(self, now: int) -> int:
        """The time that the sum is divided by."""
        self.purge(now)
        elapsed = self.elapsed_ms(now)
        missing = self.count - 1 - elapsed // self.length_ms
        return max(elapsed + max(0, missing) * self.length_ms, 1)

    def measure(self, now: int) -> float:
        """The rate per second."""
        window_s = self.window_ms(now) / MS_PER_S
        return self.total / window_s
