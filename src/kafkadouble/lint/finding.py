"""What the lint finds, and what it knows besides the requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kafkadouble.server.tracing.history import SeenRequest

MOST_SHOWN = 5


class LintContext(NamedTuple):
    """`topics` are the names of the topics that exist. `creates_topics` is the broker's
    `auto.create.topics.enable`. `is_timed` is False with a stepped clock: requests then have no
    times that a rule could compare."""

    topics: frozenset[str] = frozenset()
    creates_topics: bool = True
    is_timed: bool = True


class LintFinding(NamedTuple):
    """One habit of one client. `rule` is a name in the table of rules; `sentence` says what the
    client did; `requests` show it, oldest first."""

    rule: str
    client_id: str | None
    sentence: str
    requests: tuple[SeenRequest, ...]

    @property
    def remedy(self) -> str:
        """How to mend it: the setting of the client."""
        from .rules import BY_NAME

        return BY_NAME[self.rule].remedy

    def __str__(self) -> str:
        shown = [f"  {seen!r}" for seen in self.requests[:MOST_SHOWN]]
        more = len(self.requests) - MOST_SHOWN
        shown += [f"  and {more} more"] if more > 0 else []
        return "\n".join([f"{self.rule}: {self.client_id!r} {self.sentence}", *shown, f"  {self.remedy}"])


def finding(rule: str, sentence: str, requests: Sequence[SeenRequest]) -> LintFinding:
    """The finding about the client of these requests."""
    return LintFinding(rule, requests[0].client_id, sentence, tuple(requests))
