"""What fails a comparison: what two plays show, each on brokers of its own.

Where the machine is busy, an Apache Kafka is late now and then with what no script waits for, or
takes a broker for dead that is not. What comes of that is another thing in each play; what differs
by the programs differs again. So what is wrong with a play is looked for in a second one, and fails
the comparison only if it is there, too: the same line, API, version and field. What one play alone
has is told.

Rules. This file starts nothing and asks nobody: a play is what it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from .divergence import Pattern, Row, sorted_out
from .play import Report

T = TypeVar("T")

MOST = 20
"""Of what was seen once so much is told."""


class Problem(NamedTuple):
    """What is wrong with a play. Two plays have the same when `what` is equal; `told` is for
    people."""

    what: tuple[object, ...]
    told: str


class Verdict(NamedTuple):
    """What both plays show, and what only one of them did."""

    failures: list[str]
    once: list[str]

    def lines(self, name: str) -> list[str]:
        """For the end of a run: nothing where one play was enough."""
        if not self.once:
            return []
        more = [f"... and {len(self.once) - MOST} more"] if len(self.once) > MOST else []
        return [f"tried again: {name}, for what one play of two showed: {each}" for each in self.once[:MOST] + more]


def of_two(play: Callable[[], T], problems: Callable[[T], list[Problem]]) -> tuple[T, Verdict]:
    """The last play, and the verdict; there is a second one only if something is wrong with the
    first."""
    report = play()
    first = problems(report)
    if not first:
        return report, Verdict([], [])
    report = play()
    second = problems(report)
    lasting = {each.what for each in first} & {each.what for each in second}
    once = [each.told for each in (*first, *second) if each.what not in lasting]
    return report, Verdict([each.told for each in second if each.what in lasting], once)


def of_report(report: Report, listed: list[Row], shown: list[Row], others: Iterable[str]) -> list[Problem]:
    """What is wrong with a play in which nothing may differ but what is `listed`, and all of
    `shown` must; and what else is said to be."""
    unlisted, _ = sorted_out(report.found, listed)
    _, unused = sorted_out(report.found, shown)
    return [
        *(Problem(("unplayable", *each.split(":")[:2]), f"cannot be played: {each}") for each in report.unplayable),
        *(Problem((each[:4], each.difference.path), f"not in divergence.toml: {each}") for each in unlisted),
        *(Problem(("unused", each), f"in divergence.toml, and not different: {_told(each)}") for each in unused),
        *(Problem(("other", each), each) for each in others),
    ]


def _told(pattern: Pattern) -> str:
    return ", ".join(f"{name} {value}" for name, value in pattern._asdict().items() if value not in ("*", ".."))
