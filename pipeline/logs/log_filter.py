"""The part of a log that a query needs, derived from its filters: topics, partitions, offsets, and
a lower bound of timestamps.

It only reduces the reading: the query still filters every row. Unlike an option, it may name topics
that do not exist.
"""

from __future__ import annotations

from typing import NamedTuple

FAR = 2**63 - 1
"""Higher than every offset."""


class LogFilter(NamedTuple):
    """None is no bound. Offsets from `first`, before `end`; batches with a record at `since` (ms)
    or later."""

    topics: frozenset[str] | None = None
    partitions: frozenset[int] | None = None
    first: int = 0
    end: int = FAR
    since: int = 0

    def takes(self, topic: str | None, partition: int | None) -> bool:
        """Whether this partition may have rows."""
        return (self.topics is None or topic in self.topics) and (
            self.partitions is None or partition in self.partitions
        )

    def and_topics(self, topics: frozenset[str]) -> LogFilter:
        return self._replace(topics=topics if self.topics is None else self.topics & topics)

    def and_partitions(self, partitions: frozenset[int]) -> LogFilter:
        return self._replace(partitions=partitions if self.partitions is None else self.partitions & partitions)

    def and_offsets(self, first: int, end: int) -> LogFilter:
        return self._replace(first=max(self.first, first), end=min(self.end, end))

    def and_since(self, since: int) -> LogFilter:
        return self._replace(since=max(self.since, since))
