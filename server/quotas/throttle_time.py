"""How long a client is throttled that has exceeded its quota: Apache Kafka's `QuotaUtils`.

The time is what it takes until the rate is the quota again, if nothing more is recorded. It is
rounded as Java rounds, and it is not larger than an int32: where Kafka's conversion overflows, the
client is throttled for the longest time. For a quota such as 5e-324 the time is infinite.
"""

from __future__ import annotations

import math

from .rate import Rate

MAX_THROTTLE_MS = 2**31 - 1
MIN_LONG, MAX_LONG = -(2**63), 2**63 - 1


def java_round(value: float) -> int:
    """The nearest whole number, of two the larger one, as `Math.round`: it has 64 bits, and is 0
    for what is no number.
    """
    if math.isnan(value):
        return 0
    value = min(max(value, MIN_LONG), MAX_LONG)
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
