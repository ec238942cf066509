"""A scenario file as plain values, with the line and column of each value.

The suffix of the file decides between YAML and TOML. Keys are always texts. A file that is too
large, too deep or too long is refused before its values are kept.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.arguments import check
from kafkadouble.errors import UsageError
from kafkadouble.server.configs.did_you_mean import near

if TYPE_CHECKING:
    from os import PathLike

MOST_BYTES = 1 << 20
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
    """What is too much, if something is: the number of values so far, or the depth of one."""
    if depth > DEEPEST:
        return f"a scenario is at most {DEEPEST} levels deep"
    if values > MOST_VALUES:
        return f"a scenario has at most {MOST_VALUES} values, and an alias counts each time; produce_file appends more"
    return None


def read(scenario: str | PathLike[str]) -> ScenarioDocument:
    """The values of a file. Raises UsageError if it cannot be read, or is not what its suffix
    says."""
    check(scenario=scenario)
    file = os.fspath(scenario)
    suffix = os.path.splitext(file)[1]
    if suffix.lower() not in FORMS:
        hint = near(suffix, FORMS)
        raise UsageError(f"{file}: a scenario is a file {', '.join(f'*{each}' for each in FORMS)}, not *{suffix}{hint}")
    return FORMS[suffix.lower()](file, _text(file))


def _text(file: str) -> str:
    try:
        # A pipe would be waited for, and a device may never end.
        if not stat.S_ISREG(os.stat(file).st_mode):
            raise UsageError(f"{file}: a scenario is a regular file")
        with open(file, "rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except (OSError, ValueError) as problem:  # a null byte in a path is a ValueError
        if isinstance(problem, UsageError):
            raise
        reason = getattr(problem, "strerror", None) or problem
        raise UsageError(f"{file}: the scenario cannot be read: {reason}") from None
    if len(data) > MOST_BYTES:
        raise UsageError(f"{file}: a scenario has at most {MOST_BYTES} bytes; a step with produce_file appends more")
    return _decoded(file, data)


def _decoded(file: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        before = data[: problem.start]
        position = FilePosition(before.count(b"\n") + 1, problem.start - before.rfind(b"\n"))
        raise problem_at(file, position, "a scenario is a text in UTF-8, and this byte is not") from None


def _yaml(file: str, text: str) -> ScenarioDocument:
    from .yaml_form import parse

    return parse(file, text)


def _toml(file: str, text: str) -> ScenarioDocument:
    from .toml_form import parse

    return parse(file, text)


FORMS: dict[str, Callable[[str, str], ScenarioDocument]] = {".yaml": _yaml, ".yml": _yaml, ".toml": _toml}
"""By suffix: what reads the text of a file."""
