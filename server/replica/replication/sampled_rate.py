"""Bytes per second over the recent past: Apache Kafka's `SimpleRate` of a sampled sum.

Rules. Bytes are recorded in the current sample, which lasts `length_ms`; then the next sample
begins. There is one sample more than are counted. A sample without a record for the length of all
counted samples is reset. The rate is the sum of all samples over the time since the oldest sample
began, but at least over the length of one. The first sample begins with the first measurement or
record. This module has no clock: `now` is in ms.
"""

from __future__ import annotations

from ...quotas.rate import SampledSum


class SampledRate(SampledSum):
    """A rate over `count` samples of `length_ms` each."""

    __slots__ = ()

    def measure(self, now: int) -> float:
        """Returns the rate in bytes per second."""
        self.purge(now)
        return self.total * 1000 / max(self.length_ms, self.elapsed_ms(now))
