"""The report of a double, as text: for the failure of a test, or for a person.

The sections are `requests.py` (the latest requests), `rules.py` (fault rules, and why nothing
matched them) and `cluster.py` (brokers, topics, groups, open transactions). What cannot be read,
since a broker is down or the double was stopped, says so in its section, and hides no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.common.errors import KafkaError, UsageError

from . import cluster, requests, rules

if TYPE_CHECKING:
    from .reported import Reported

Section = Callable[["Reported"], Iterable[str]]

REQUESTS = 15
"""So many requests a report shows."""

LAST_REQUESTS, FAULT_RULES = "the last requests", "fault rules"

STATE: dict[str, Section] = {
    FAULT_RULES: rules.lines,
    "brokers": cluster.brokers,
    "topics": cluster.topics,
    "groups": cluster.groups,
    "open transactions": cluster.open_transactions,
}


def sections(double: Reported, count: int = REQUESTS) -> dict[str, list[str]]:
    """The lines of each section by its title, without empty ones. `count` is that of the latest
    requests."""
    every: dict[str, Section] = {LAST_REQUESTS: partial(requests.lines, count=count), **STATE}
    found = {title: _shown(section, double) for title, section in every.items()}
    return {title: lines for title, lines in found.items() if lines}


def _shown(section: Section, double: Reported) -> list[str]:
    """A defect here must not hide the failure of a test."""
    try:
        return list(section(double))
    except (KafkaError, UsageError) as problem:
        return [f"not shown: {problem}"]
    except Exception as problem:  # a defect of a section
        return [f"cannot be shown: {problem!r}"]


def text(double: Reported, count: int = REQUESTS) -> str:
    """All sections, one after the other."""
    return "\n".join(
        line for title, lines in sections(double, count).items() for line in (f"{title}:", *(f"  {e}" for e in lines))
    )
