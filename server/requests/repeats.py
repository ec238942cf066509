"""What a request names again is answered again, as in Kafka, as long as that stays little.

A small request must not become an endless answer.
"""

from __future__ import annotations

from collections.abc import Hashable

MOST = 10_000
"""Elements of an answer (partitions, members, producers) that are there because something was named again."""


class Repeats:
    """What one request has named so far."""

    def __init__(self) -> None:
        self._seen: set[Hashable] = set()
        self._left = MOST

    def may(self, name: Hashable, size: int = 1) -> bool:
        """Whether this is answered, by `size` elements: the first time always, later while there is room."""
        if name not in self._seen:
            self._seen.add(name)
            return True
        self._left -= size
        return self._left >= 0
