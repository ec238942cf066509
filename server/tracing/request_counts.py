"""Counts the requests of clients, by API and version, with their errors and times: what Kafka's
RequestMetrics count; and the bytes of records by topic, as its BrokerTopicMetrics."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .seen_line import sizes_of

if TYPE_CHECKING:
    from .seen_request import SeenRequest


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
            for topic, size in sizes_of(seen):
                counter[topic] += size

    def __repr__(self) -> str:
        return f"{self.requests.total()} requests to {len(self.requests)} versions of APIs"
