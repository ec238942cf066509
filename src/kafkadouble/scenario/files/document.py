"""A scenario file as plain values, with the line and column of each value.

Keys are always texts. A file that is too large, too deep or too long is refused before its values
are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from kafkadouble.common.errors import UsageError

MOST_VALUES = 250_000
DEEPEST = 50
LONGEST_PROBLEM = 500
"""An error text has at most so many characters: it may quote a value of the file."""

ValuePath = tuple[str | int, ...]
"""The keys and the indexes, from 0, that lead to a value."""


class FilePosition(NamedTuple):
    """A line and a column, from 1."""

    line: int
    column: int


class ScenarioDocument(NamedTuple):
    """The value of a scenario file. `locate` gives the position of the value at a path, or that of
    its key. Of a path that does not exist it gives the position of the nearest value above."""

    file: str
    value: Any
    locate: Callable[[ValuePath, bool], FilePosition]

    def problem(self, path: ValuePath, text: str, of_key: bool = False) -> UsageError:
        """The error for a value, or for its key."""
        return problem_at(self.file, self.locate(path, of_key), text)

    def where(self, path: ValuePath) -> str:
        """FILE:LINE:COLUMN of a value."""
        return "{}:{}:{}".format(self.file, *self.locate(path, False))


def problem_at(file: str, position: FilePosition, text: str) -> UsageError:
    """The error for a place of a file."""
    short = text if len(text) <= LONGEST_PROBLEM else f"{text[:LONGEST_PROBLEM]}..."
    return UsageError(f"{file}:{position.line}:{position.column}: {short}")


def excess(values: int, depth: int) -> str | None:
    """The bound that is exceeded, if one is: the number of values so far, or the depth of one."""
    if depth > DEEPEST:
        return f"a scenario is at most {DEEPEST} levels deep"
    if values > MOST_VALUES:
        return f"a scenario has at most {MOST_VALUES} values, and an alias counts each time; produce_file appends more"
    return None
