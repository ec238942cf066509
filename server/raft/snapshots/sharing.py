"""How the bytes of one FetchSnapshot response are shared among the snapshots that are asked for (KIP-630, "Request Handling").

The response has at most the smaller of what the request allows and `replica.fetch.response.max.bytes`. Each snapshot may have the average of
it; what one does not need, since less of it remains, goes to the others. This file knows numbers only. Apache Kafka has one partition ever,
and never came to share.
"""

from __future__ import annotations

from collections.abc import Sequence


def response_max_bytes(asked: int, configured: int | None = None) -> int:
    """What all of a response may have: `configured` binds where it is given (KIP-630; Kafka itself goes by the request alone)."""
    return asked if configured is None else min(asked, configured)


def share(budget: int, remaining: Sequence[int]) -> list[int]:
    """How much of each is sent, of which `remaining` bytes could be. In sum at most `budget`, and all of it where there is enough to send.

    Bytes that do not divide go to the first.
    """
    shares = [0] * len(remaining)
    left = budget
    # The smallest first: what it leaves of the average of those not served yet is theirs.
    order = sorted(range(len(remaining)), key=lambda at: (remaining[at], -at))
    for served, at in enumerate(order):
        average = left // (len(order) - served)
        shares[at] = min(remaining[at], average)
        left -= shares[at]
    return shares
