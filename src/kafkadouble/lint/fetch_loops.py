"""A consumer asks for records in a busy loop, instead of waiting for them at the broker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkadouble.server.tracing.history import SeenRequest
from kafkadouble.server.tracing.seen_line import payloads_of

from .finding import FoundHabit, LintContext, finding
from .thresholds import BUSY_FETCHES, BUSY_WAIT_MS

NAME = "busy-fetch-loop"


def find(requests: Sequence[SeenRequest], context: LintContext) -> Iterator[FoundHabit]:
    """A row of empty fetches on one connection, each with a short wait."""
    if not context.is_timed:
        return
    rows: dict[str, list[SeenRequest]] = {}
    found: dict[str, list[SeenRequest]] = {}
    for seen in requests:
        if seen.api != "Fetch":
            continue
        row = rows.setdefault(seen.peer, [])
        if not _is_empty_and_short(seen) or (row and seen.time - row[-1].time > 2 * BUSY_WAIT_MS):
            row.clear()
        if _is_empty_and_short(seen):
            row.append(seen)
            if len(row) >= BUSY_FETCHES:
                found[seen.client_id] = list(row)
    for shown in found.values():
        waits = sorted({seen.body.max_wait_ms for seen in shown})
        took = shown[-1].time - shown[0].time
        yield finding(NAME, f"fetched {len(shown)} times in {took} ms without a record, waiting {waits[-1]} ms", shown)


def _is_empty_and_short(seen: SeenRequest) -> bool:
    return (
        seen.answer is not None
        and not seen.rules
        and seen.error is None
        and seen.body.max_wait_ms <= BUSY_WAIT_MS
        and not any(map(len, payloads_of(seen)))
    )
