"""Judges how the docstring of a function begins: `imperatives` finds those that give an order.

A docstring is in the third person ("Returns the offset.") or names a thing ("The offset."). One
form in every package: a reader does not ask what the difference means. Verbs stand in `verbs.txt`;
one that is also a noun ("Record batches from `start` on") is a verb only before an article and the
like.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

VERBS = Path(__file__).with_name("verbs.txt")
_OBJECT = re.compile(
    "a|all|an|any|as|each|every|for|from|it|its|no|one|that|the|their|them|these|this|those|what|whether"
)
"""Words that an object begins with: before one of them, "Record" is a verb."""

_OPENING = re.compile(
    r'^[ \t]*(?:async )?def (?:[^\n]|\n[ \t]|\n\))*?:\n[ \t]+r?"""([A-Z][a-z]+)\s+([\w`]+)', re.MULTILINE
)


@cache
def verbs() -> frozenset[str]:
    """Verbs in their base form."""
    return _listed(VERBS.read_text("utf-8"))


@cache
def _nouns() -> frozenset[str]:
    """The verbs that are also nouns."""
    return _listed(VERBS.read_text("utf-8").partition("# Also nouns\n")[2])


def _listed(text: str) -> frozenset[str]:
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


def imperatives(source: str) -> Iterator[tuple[int, str]]:
    """The line and the first word of each docstring of a function that begins with a verb's base
    form."""
    for match in _OPENING.finditer(source):
        word = match[1].lower()
        if word in verbs() and (word not in _nouns() or _OBJECT.fullmatch(match[2].lower())):
            yield source.count("\n", 0, match.start(1)) + 1, match[1]
