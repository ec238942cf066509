"""Runs of values that one `pack` can write: fixed values, and arrays of numbers with their counts.
The writer collects them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Value:
    """A fixed value in a run."""

    letter: str
    value: str


@dataclass(frozen=True, slots=True)
class Numbers:
    """An array of numbers in a run: `count` is a variable with its length, -1 for null."""

    letter: str
    value: str
    count: str
    compact: bool
    nullable: bool

    @property
    def condition(self) -> str:
        """The condition for packing the run at once: the count fits in one byte and is not null."""
        if self.compact:
            return f"0 <= {self.count} < 127" if self.nullable else f"{self.count} < 127"
        return f"{self.count} >= 0" if self.nullable else ""


Run: TypeAlias = list[Value | Numbers]


def condition(run: Run) -> str:
    """The condition for packing a whole run at once; empty if a run can always be packed at
    once."""
    return " and ".join(filter(None, (item.condition for item in run if isinstance(item, Numbers))))


def template(item: Value | Numbers) -> str:
    """The letters of an item, with a placeholder for the length of an array."""
    if isinstance(item, Value):
        return item.letter
    return ("B" if item.compact else "i") + "{}" + item.letter


def arguments(item: Value | Numbers) -> str:
    """The arguments of the pack function for an item."""
    if isinstance(item, Value):
        return item.value
    return f"{item.count} + 1, *{item.value}" if item.compact else f"{item.count}, *{item.value}"
