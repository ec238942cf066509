"""A client sends a request before the end of its `throttle_time_ms` (KIP-219)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkadouble.server.tracing.history import SeenRequest

from .finding import FoundHabit, LintContext, finding
from .thresholds import EARLY_MS

NAME = "ignored-throttle"


def find(requests: Sequence[SeenRequest], context: LintContext) -> Iterator[FoundHabit]:
    """The request after a throttled answer on the same connection, before the time was over."""
    throttled: dict[str, SeenRequest] = {}
    found: dict[str, list[SeenRequest]] = {}
    for seen in requests:
        before = throttled.get(seen.peer)
        if before is not None and _is_early(before, seen):
            found.setdefault(seen.client_id, []).extend((before, seen))
        if getattr(seen.answer, "throttle_time_ms", 0) > 0 and seen.took is not None:
            throttled[seen.peer] = seen
    for shown in found.values():
        throttle_ms = shown[0].answer.throttle_time_ms
        waited = _arrived(shown[1]) - _ended(shown[0])
        sentence = f"was throttled for {throttle_ms} ms, and sent {shown[1].api} after {waited} ms"
        yield finding(NAME, sentence, list(dict.fromkeys(shown)))


def _arrived(seen: SeenRequest) -> int:
    return seen.time if seen.arrived_throttled is None else seen.arrived_throttled


def _ended(seen: SeenRequest) -> int:
    return seen.time + (seen.took or 0)


def _is_early(before: SeenRequest, seen: SeenRequest) -> bool:
    """Tells whether a request came early: not under way when the answer was sent, nor just a little
    early."""
    throttle_ms: int = before.answer.throttle_time_ms
    return EARLY_MS <= _arrived(seen) - _ended(before) < throttle_ms - EARLY_MS
