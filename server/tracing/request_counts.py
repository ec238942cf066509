"""Counts the requests of clients, by API and version, with their errors and times: what Kafka's
RequestMetrics count; and the bytes of records by topic, as its BrokerTopicMetrics."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .seen_line import sizes_of
from .trace import ANSWERED, UNANSWERED

if TYPE_CHECKING:
    from .seen_request import SeenRequest


MOST_TOPICS = 10_000
"""The topics whose bytes are counted, 3 MB of names at most: then the oldest is forgotten."""


class RequestCounts:
    """`requests` by API and version, `errors` by API and error, `times` in ms and `answered`
    requests by API; `bytes_in` and `bytes_out` of records by topic."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.errors: Counter[tuple[str, str]] = Counter()
        self.times: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.bytes_in: Counter[str] = Counter()
        self.bytes_out: Counter[str] = Counter()

    def add(self, seen: SeenRequest) -> None:
        """Counts a request that ended."""
        self.requests[seen.api, seen.version] += 1
        for error in seen.errors:
            self.errors[seen.api, error] += 1
        if seen.took is not None:
            self.times[seen.api] += seen.took
            self.answered[seen.api] += 1
        if (counter := {"Produce": self.bytes_in, "Fetch": self.bytes_out}.get(seen.api)) is not None:
            self._add_sizes(counter, seen)

    def _add_sizes(self, counter: Counter[str], seen: SeenRequest) -> None:
        """Counts the bytes of records by topic. A Produce with an error is left out: it may name
        topics that do not exist."""
        if seen.api == "Produce" and (seen.errors or seen.outcome not in (ANSWERED, UNANSWERED)):
            return
        for topic, size in sizes_of(seen):
            if size:
                if topic not in counter and len(counter) >= MOST_TOPICS:
                    del counter[next(iter(counter))]
                counter[topic] += size

    def __repr__(self) -> str:
        return f"{self.requests.total()} requests to {len(self.requests)} versions of APIs"
