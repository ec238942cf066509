"""What checking files comes to: by which rules, what was looked at, and what was found."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from kafkadouble.server.log.formats import BadFile, TornTail


class Rules(NamedTuple):
    """`live`: a node is at work on the files, and the last segment may end anywhere. `gaps`: offsets may be missing everywhere."""

    live: bool = False
    gaps: bool = False


class Tally:
    """What was looked at so far, and the segments that were not written to their end."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.torn: list[TornTail] = []


class Verdict(NamedTuple):
    """`corrupt` is the first thing that is wrong; `torn` what an unclean stop left behind, and no corruption."""

    corrupt: BadFile | None
    torn: list[TornTail]
    counts: dict[str, int]

    @property
    def word(self) -> str:
        return "corrupt" if self.corrupt else "torn tail" if self.torn else "good"

    @property
    def first(self) -> BadFile | None:
        return self.corrupt or next(iter(self.torn), None)
