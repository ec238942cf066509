"""Decides whether a comparison fails: by the problems that two plays share, each on brokers of its
own.

On a busy machine an Apache Kafka is sometimes late with something that no script waits for, or
fences a broker that is alive. Such effects differ from play to play, while real differences between
the programs occur again. So a problem of a play is looked for in a second one. It fails the
comparison only if it is there too: at the same line, API, version and field. A problem of only one
play is reported.

Rules. This file starts no process and sends no request: a play is a function that it gets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, TypeVar

from interop.conftest import SUMMARY_LINE

from .divergence import Pattern, Row, sorted_out
from .play import Report

T = TypeVar("T")

MOST = 20
"""The largest number of problems of a single play that are reported."""


class Problem(NamedTuple):
    """A problem of a play. Two plays have the same problem when `what` is equal; `text` is its
    text."""

    what: tuple[object, ...]
    text: str


class Verdict(NamedTuple):
    """The problems of both plays, and those of only one."""

    failures: list[str]
    once: list[str]

    def lines(self, name: str) -> list[str]:
        """Lines for the end of a run: none if one play was enough."""
        if not self.once:
            return []
        more = [f"... and {len(self.once) - MOST} more"] if len(self.once) > MOST else []
        return [f"tried again: {name}, for what one play of two showed: {each}" for each in self.once[:MOST] + more]

    def require(self, record_property: Callable[[str, object], None], summary: str, name: str) -> None:
        """Leaves the lines for the end of the run, and asserts that both plays have no problem."""
        for line in (summary, *self.lines(name)):
            record_property(SUMMARY_LINE, line)
        assert self.failures == []


def of_two(folder: Path, play: Callable[[Path], T], problems: Callable[[T], list[Problem]]) -> tuple[T, Verdict]:
    """The report of the last play, and the verdict; there is a second play only if the first has
    problems. Each gets a folder of its own."""
    report = play(folder / "0")
    first = problems(report)
    if not first:
        return report, Verdict([], [])
    report = play(folder / "1")
    second = problems(report)
    lasting = {each.what for each in first} & {each.what for each in second}
    once = [each.text for each in (*first, *second) if each.what not in lasting]
    return report, Verdict([each.text for each in second if each.what in lasting], once)


def of_report(report: Report, listed: list[Row], shown: list[Row], others: Iterable[str]) -> list[Problem]:
    """The problems of a play: differences that are not in `listed`, differences in `shown` that did
    not occur, scripts that could not be played, and `others`."""
    unlisted, _ = sorted_out(report.found, listed)
    _, unused = sorted_out(report.found, shown)
    return [
        *(Problem(("unplayable", *each.split(":")[:2]), f"cannot be played: {each}") for each in report.unplayable),
        *(Problem((each[:4], each.difference.path), f"not in divergence.toml: {each}") for each in unlisted),
        *(Problem(("unused", each), f"in divergence.toml, and not different: {_text(each)}") for each in unused),
        *(Problem(("other", other), other) for other in others),
    ]


def _text(pattern: Pattern) -> str:
    return ", ".join(f"{name} {value}" for name, value in pattern._asdict().items() if value not in ("*", ".."))
