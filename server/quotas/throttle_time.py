"""How long a client is throttled that has exceeded its quota: Apache Kafka's `QuotaUtils`.

The time is what it takes until the rate is the quota again, if nothing more is recorded. It is
rounded as Java rounds, and it is not larger than an int32: where Kafka's conversion overflows, the
client is throttled for the longest time.
"""

from __future__ import annotations

import math

from .rate import Rate

MAX_THROTTLE_MS = 2**31 - 1


def java_round(value: float) -> int:
    """The nearest whole number, of two the larger one, as `Math.round`."""
    below = math.floor(value)
    return below + (value - below >= 0.5)


def throttle_time_ms(rate: Rate, bound: float, now: int) -> int:
    """The time for a rate (per second); 0 if it is not above the bound."""
    measured = rate.measure(now)
    if measured <= bound:
        return 0
    if not bound:
        return MAX_THROTTLE_MS
    return min(java_round((measured - bound) / bound * rate.window_ms(now)), MAX_THROTTLE_MS)
