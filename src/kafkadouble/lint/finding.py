"""The findings of the lint, and its knowledge besides the requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kafkadouble.server.tracing.history import SeenRequest

MOST_SHOWN = 5
"""So many requests of a finding are in its text."""


REMEDIES: dict[str, str] = {}
"""By the name of a rule; the table of rules fills it."""


class LintContext(NamedTuple):
    """`topics` are the names of the topics that exist. `creates_topics` is the broker's
    `auto.create.topics.enable`. `is_timed` is False with a stepped clock: requests then have no
    times that a rule could compare."""

    topics: frozenset[str] = frozenset()
    creates_topics: bool = True
    is_timed: bool = True


class LintCase(NamedTuple):
    """The requests of one client, about one topic or group if the rule is about these."""

    client_id: str | None
    sentence: str


class LintFinding(NamedTuple):
    """A habit of clients. `rule` is a name in the table of rules; `sentence` says what the client
    did; `requests` show it, oldest first. Where clients did the same with several topics or groups,
    or several clients did the same, `cases` has each of them. `client_id` is None for several
    clients."""

    rule: str
    client_id: str | None
    sentence: str
    requests: tuple[SeenRequest, ...]
    cases: tuple[LintCase, ...] = ()

    @property
    def remedy(self) -> str:
        """The remedy: the setting of the client."""
        return REMEDIES[self.rule]

    def __str__(self) -> str:
        shown = [f"  {seen!r}" for seen in self.requests[:MOST_SHOWN]]
        more = len(self.requests) - MOST_SHOWN
        shown += [f"  and {more} more"] if more > 0 else []
        client = "" if self.client_id is None else f"{self.client_id!r} "
        return "\n".join([f"{self.rule}: {client}{self.sentence}", *shown, f"  {self.remedy}"])


class FoundHabit(NamedTuple):
    """A finding in one client, before the same of others is merged with it.

    `sentence` says what the client did. Habits of the same rule and `kind` are one finding. For a
    rule about topics or groups, `name` is one of them, with a hint, and `of_many` says the same of
    several: `{count}` and `{names}` stand for them. `is_first`: its name is shown before others.
    """

    rule: str
    sentence: str
    requests: tuple[SeenRequest, ...]
    kind: str = ""
    name: str = ""
    of_many: str = ""
    is_first: bool = False

    @property
    def client_id(self) -> str | None:
        return self.requests[0].client_id


def finding(rule: str, sentence: str, requests: Sequence[SeenRequest], kind: str = "") -> FoundHabit:
    """The habit of the client of these requests."""
    return FoundHabit(rule, sentence, tuple(requests), kind)
