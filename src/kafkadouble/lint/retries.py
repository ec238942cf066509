"""A producer without idempotence sends a batch again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkadouble.server.tracing.history import SeenRequest
from kafkadouble.server.tracing.payload import Payload
from kafkadouble.server.tracing.seen_line import payloads_of, where
from kafkadouble.server.tracing.seen_parts import SeenPart
from kafkadouble.server.tracing.trace import ABANDONED, DISCONNECTED

from .finding import FoundHabit, LintContext, finding

NAME = "retry-without-idempotence"
NO_PRODUCER_ID = -1
LOST = (DISCONNECTED, ABANDONED)

Batch = tuple[str, str, int, int, int]
"""The client id, the partition, and what tells batches apart: checksum, number of records, size."""


def find(requests: Sequence[SeenRequest], context: LintContext) -> Iterator[FoundHabit]:
    """The same batch twice, after an attempt that failed or got no answer."""
    failed: dict[Batch, SeenRequest] = {}
    again: dict[str, list[SeenRequest]] = {}
    places: dict[str, set[str]] = {}
    for seen in requests:
        for part, payload in _produced(seen):
            batch = _identity(seen, part, payload)
            if batch is None:
                continue
            if earlier := failed.pop(batch, None):
                again.setdefault(seen.client_id, []).extend((earlier, seen))
                places.setdefault(seen.client_id, set()).add(where(part))
            if seen.outcome in LOST or part.error is not None:
                failed[batch] = seen
    for client_id, shown in again.items():
        topics = ", ".join(sorted(places[client_id])[:3])
        yield finding(NAME, f"sent a batch for {topics} again, without idempotence", list(dict.fromkeys(shown)))


def _produced(seen: SeenRequest) -> list[tuple[SeenPart, Payload]]:
    """The partitions of a Produce request, each with its batch."""
    if seen.api != "Produce":
        return []
    parts, payloads = seen.parts, payloads_of(seen)
    return list(zip(parts, payloads, strict=True)) if len(parts) == len(payloads) else []


def _identity(seen: SeenRequest, part: SeenPart, payload: Payload) -> Batch | None:
    batch = payload.batch
    if batch is None or batch.producer_id != NO_PRODUCER_ID:
        return None
    return seen.client_id, f"{part.topic}-{part.partition}", batch.crc, batch.count, len(payload)
