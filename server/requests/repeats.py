"""Bounds the part of a response that answers repeated names.

Kafka answers a name in a request as often as the request repeats it. Here that holds up to a bound,
so that a small request cannot cause an endless response.
"""

from __future__ import annotations

from collections.abc import Hashable

MOST = 10_000
"""The largest number of elements (partitions, members, producers) that answer repeated names."""


class Repeats:
    """The names that one request has used so far."""

    def __init__(self) -> None:
        self._seen: set[Hashable] = set()
        self._left = MOST

    def may(self, name: Hashable, size: int = 1) -> bool:
        """Whether a name is answered with `size` elements: always the first time, then up to the
        bound.
        """
        if name not in self._seen:
            self._seen.add(name)
            return True
        self._left -= size
        return self._left >= 0
