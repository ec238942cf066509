"""The result of a check: its rules, what was checked, and what was found."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from kafkadouble.server.log.formats import BadFile, TornTail


class Rules(NamedTuple):
    """The rules of a check. `live`: a node uses the files, so the last segment may end anywhere.
    `gaps`: offsets may be missing everywhere."""

    live: bool = False
    gaps: bool = False


class Tally:
    """The counts of what was checked so far, and the segments with a torn tail."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.torn: list[TornTail] = []


class Verdict(NamedTuple):
    """The result of a check. `corrupt` is the first corruption. `torn` are the tails that an
    unclean shutdown left, which are not corruption."""

    corrupt: BadFile | None
    torn: list[TornTail]
    counts: dict[str, int]

    @property
    def word(self) -> str:
        return "corrupt" if self.corrupt else "torn tail" if self.torn else "good"

    @property
    def first(self) -> BadFile | None:
        return self.corrupt or next(iter(self.torn), None)
