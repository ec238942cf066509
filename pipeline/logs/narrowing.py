"""What a query can be seen to want before anything is read: fewer topics and partitions, fewer offsets, nothing older than a moment.

It leaves out what need not be read, and promises no more: whoever asked still looks at every row. Other than an option, it may name what is
not there.
"""

from __future__ import annotations

from typing import NamedTuple

FAR = 2**63 - 1
"""Behind every offset."""


class LogFilter(NamedTuple):
    """None is no bound. Offsets from `first` on, before `end`; batches with a record that is not before `since` (ms)."""

    topics: frozenset[str] | None = None
    partitions: frozenset[int] | None = None
    first: int = 0
    end: int = FAR
    since: int = 0

    def takes(self, topic: str | None, partition: int | None) -> bool:
        """Whether this partition may have something."""
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
