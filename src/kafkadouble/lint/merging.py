"""Makes one finding of the same habit of many topics, groups or clients.

A test suite of a client library makes hundreds of topics and clients. A list with a finding for
each hides the others. The cases of a finding have all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafkadouble.common.plural import counted

from .finding import FoundHabit, LintCase, LintFinding

MOST_NAMES = 3
"""So many topics, groups or clients are named in a sentence."""


def merged(habits: Iterable[FoundHabit]) -> list[LintFinding]:
    """The findings, in the order in which each rule and kind was found first."""
    same: dict[tuple[str, str], list[FoundHabit]] = {}
    for habit in habits:
        same.setdefault((habit.rule, habit.kind), []).append(habit)
    return [_finding(each) for each in same.values()]


def _finding(same: Sequence[FoundHabit]) -> LintFinding:
    first = same[0]
    clients = list(dict.fromkeys(habit.client_id for habit in same))
    if len(same) == 1:
        return LintFinding(first.rule, first.client_id, first.sentence, first.requests)
    requests = {id(seen): seen for habit in same for seen in habit.requests}.values()
    return LintFinding(
        first.rule,
        clients[0] if len(clients) == 1 else None,
        _sentence(same, [repr(client) for client in clients]),
        tuple(sorted(requests, key=lambda seen: (seen.time, seen.number))),
        tuple(LintCase(habit.client_id, habit.sentence) for habit in same),
    )


def _sentence(same: Sequence[FoundHabit], clients: Sequence[str]) -> str:
    """`created 109 topics by asking for them: 'a', 'b', 'c' and 106 more`, or the sentence of the
    first client and the names of all."""
    first = same[0]
    names = list(dict.fromkeys(habit.name for habit in sorted(same, key=lambda habit: not habit.is_first)))
    what = first.of_many.format(count=len(names), names=_listed(names)) if len(names) > 1 else first.sentence
    if len(clients) == 1:
        return what
    who = f"{counted(len(clients), 'client')} ({_listed(clients)})"
    return f"{who} {what}" if len(names) > 1 else f"{who} did the same: the first {what}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    if more > 0:
        return f"{', '.join(names[:MOST_NAMES])} and {more} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
