"""A program opens a connection for each request, mostly because it makes a client for each
message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkadouble.server.tracing.history import SeenRequest
from kafkadouble.server.tracing.trace import ANSWERED, UNANSWERED

from .finding import FoundHabit, LintContext, finding
from .thresholds import SHORT_CONNECTIONS, SHORT_CONNECTIONS_MS

NAME = "connection-per-request"

PREPARATIONS = ("ApiVersions", "SaslHandshake", "SaslAuthenticate", "Metadata", "FindCoordinator", "InitProducerId")
"""The requests that a client sends before its work."""


def find(requests: Sequence[SeenRequest], context: LintContext) -> Iterator[FoundHabit]:
    """Many connections of one client id that each made one request."""
    if not context.is_timed:
        return
    work: dict[tuple[str, str], list[SeenRequest]] = {}
    for seen in requests:
        if seen.api not in PREPARATIONS:
            work.setdefault((seen.client_id, seen.peer), []).append(seen)
    single: dict[str, list[SeenRequest]] = {}
    for (client_id, _), found in work.items():
        if len(found) == 1 and _could_go_on(found[0]):
            single.setdefault(client_id, []).append(found[0])
    for alone in single.values():
        alone.sort(key=lambda seen: seen.time)
        for first, last in zip(alone, alone[SHORT_CONNECTIONS - 1 :], strict=False):
            if last.time - first.time <= SHORT_CONNECTIONS_MS:
                shown = [seen for seen in alone if first.time <= seen.time <= last.time]
                sentence = f"opened {len(shown)} connections with one request each in {last.time - first.time} ms"
                yield finding(NAME, sentence, shown)
                break


def _could_go_on(seen: SeenRequest) -> bool:
    """The client could go on with the connection: neither a fault rule nor the broker ended it."""
    return seen.outcome in (ANSWERED, UNANSWERED) and not seen.rules
