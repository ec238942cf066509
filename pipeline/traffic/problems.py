"""The unreadable parts of captured traffic: counts them and keeps the first ones. A problem does
not stop the reading."""

from __future__ import annotations

from typing import NamedTuple

MOST_NAMED = 100


class Problem(NamedTuple):
    """`line` counts from 1; 0 is the whole file."""

    path: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}" if self.line else f"{self.path}: {self.what}"


class Problems:
    """All problems of a reading, and the number of `lines` that are no entries, which is no
    problem."""

    def __init__(self) -> None:
        self.count = self.other_lines = 0
        self.named: list[Problem] = []

    def add(self, path: str, line: int, what: str) -> None:
        """Adds a problem."""
        self.count += 1
        if len(self.named) < MOST_NAMED:
            self.named.append(Problem(path, line, what))

    def __repr__(self) -> str:
        return f"{self.count} problems"
