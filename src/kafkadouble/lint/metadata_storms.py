"""A client asks for the same metadata again and again, without an error that explains it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from kafkadouble.server.tracing.history import SeenRequest
from kafkadouble.server.tracing.trace import ABANDONED, DISCONNECTED

from .finding import FoundHabit, LintContext, finding
from .thresholds import EXPLAINED_MS, STORM_MS, STORM_REQUESTS

NAME = "metadata-storm"

Topics = tuple[str, tuple[str, ...] | None]
"""A connection, and the names that it requested; None for all."""


def find(requests: Sequence[SeenRequest], context: LintContext) -> Iterator[FoundHabit]:
    """Many requests for the same topics on one connection, in a short time."""
    if not context.is_timed:
        return
    troubled: dict[str, int] = {}
    recent: dict[Topics, deque[SeenRequest]] = {}
    found: dict[str, list[SeenRequest]] = {}
    for seen in requests:
        if seen.error is not None or seen.outcome in (DISCONNECTED, ABANDONED) or seen.rules:
            troubled[seen.client_id] = seen.time + (seen.took or 0)
        elif seen.api == "Metadata":
            row = recent.setdefault((seen.peer, _names(seen)), deque(maxlen=STORM_REQUESTS))
            row.append(seen)
            quiet = seen.time - troubled.get(seen.client_id, 0) > EXPLAINED_MS
            if len(row) == STORM_REQUESTS and seen.time - row[0].time <= STORM_MS and quiet:
                found[seen.client_id] = list(row)
    for shown in found.values():
        took = shown[-1].time - shown[0].time
        yield finding(NAME, f"requested the same metadata {len(shown)} times in {took} ms", shown)


def _names(seen: SeenRequest) -> tuple[str, ...] | None:
    topics = seen.body.topics
    return None if topics is None else tuple(sorted(str(topic.name or topic.topic_id) for topic in topics))
