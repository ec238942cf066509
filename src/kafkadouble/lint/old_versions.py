"""A client uses versions of APIs that lack something that later ones have.

Kafka 4.4 marks no version as deprecated: what was, Kafka 4.0 removed (KIP-896), and it is not
served. So the table has the versions that are served, and that no current client uses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kafkadouble.server.tracing.history import SeenRequest

from .finding import FoundHabit, LintContext, finding

NAME = "old-version"


class OldVersion(NamedTuple):
    """Versions below `below` of an API lack `lacks`; `since` is the Kafka that brought it."""

    below: int
    lacks: str
    since: str


OLD = {
    "Produce": OldVersion(7, "cannot use Zstandard (KIP-110)", "2.1"),
    "Fetch": OldVersion(10, "have no leader epoch or no Zstandard (KIP-320, KIP-110)", "2.1"),
    "ListOffsets": OldVersion(2, "have no isolation level (KIP-98)", "0.11"),
    "Metadata": OldVersion(4, "always create missing topics (KIP-204)", "0.11"),
    "JoinGroup": OldVersion(4, "leave members behind when a connection breaks (KIP-394)", "2.2"),
}


def find(requests: Sequence[SeenRequest], context: LintContext) -> Iterator[FoundHabit]:
    """Finds each client, API and version once."""
    found: dict[tuple[str, str, int], list[SeenRequest]] = {}
    for seen in requests:
        old = OLD.get(seen.api)
        if old is not None and seen.version < old.below:
            found.setdefault((seen.client_id, seen.api, seen.version), []).append(seen)
    for (_, api, version), shown in found.items():
        old = OLD[api]
        sentence = f"used {api} v{version}: versions below {old.below} {old.lacks}, since Kafka {old.since}"
        yield finding(NAME, sentence, shown, f"{api} v{version}")
