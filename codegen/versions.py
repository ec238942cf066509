"""Ranges of versions as the spec language writes them: `none`, `3`, `3-7`, `3+`. An open range ends
at 32767."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX = 32767
_FORM = re.compile(r"(\d+)(?:(\+)|-(\d+))?")


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions `low` to `high`, both included; empty when `low > high`, and then always (0,
    -1)."""

    low: int = 0
    high: int = -1

    @classmethod
    def parse(cls, text: str) -> Versions:
        """Reads a range; raises ValueError for any other text."""
        text = text.strip()
        if text == "none":
            return NONE
        form = _FORM.fullmatch(text)
        if form is None:
            raise ValueError(f"{text!r} is not a range of versions (none, 3, 3-7 or 3+)")
        low = int(form[1])
        high = MAX if form[2] else int(form[3] or low)
        if not low <= high <= MAX:
            raise ValueError(f"{text!r} is not a range of versions: it must rise and end at {MAX} at most")
        return cls(low, high)

    @property
    def open(self) -> bool:
        """Whether the range has no end."""
        return self.high == MAX

    def within(self, other: Versions) -> bool:
        """Whether every version of this range is in `other`."""
        return not self or (other.low <= self.low and self.high <= other.high)

    def __contains__(self, version: int) -> bool:
        return self.low <= version <= self.high

    def __bool__(self) -> bool:
        return self.low <= self.high

    def __and__(self, other: Versions) -> Versions:
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Versions(low, high) if low <= high else NONE

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.low, self.high + 1))

    def __str__(self) -> str:
        if not self:
            return "none"
        if self.open:
            return f"{self.low}+"
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


NONE = Versions()
