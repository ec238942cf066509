"""Reads a scenario in TOML, with tomllib. The places are looked for only when there is an error."""

from __future__ import annotations

import re
import tomllib
from functools import partial
from typing import Any

from kafkadouble.wire.plain_values import TOO_LARGE, scalar_fault

from .document import DEEPEST, FilePosition, ScenarioDocument, ValuePath, excess, problem_at

_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")
_AT_END = " (at end of document)"

_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![\w.-])(?:{_PART}\.[ \t]*+){{{DEEPEST},}}{_PART}[=\]]")
"""tomllib takes a time that grows with the square of the parts of a key. No group is repeated
possessively, since Python 3.11.2 gets that wrong."""

_LONG_NUMBER = re.compile(r"[0-9][0-9_]{4300}")
"""What Python does not read as an integer."""


def parse(file: str, text: str) -> ScenarioDocument:
    """The values of a text in TOML. Raises UsageError if it is not TOML."""
    if long := _LONG_KEY.search(text):
        raise problem_at(file, position_of(text, long.start()), str(excess(0, DEEPEST + 1)))
    try:
        value = tomllib.loads(text)
    except RecursionError:
        raise problem_at(file, FilePosition(1, 1), str(excess(0, DEEPEST + 1))) from None
    except ValueError as problem:
        raise _syntax_error(file, text, str(problem)) from None
    document = ScenarioDocument(file, value, partial(_locate, text))
    _check(document)
    return document


def _syntax_error(file: str, text: str, said: str) -> Exception:
    """tomllib has the place at the end of its text; without one it is a number that is too long."""
    place = _PLACE.search(said)
    if place is not None:
        return problem_at(file, FilePosition(*map(int, place.groups())), f"not TOML: {said[: place.start()]}")
    if said.endswith(_AT_END):
        return problem_at(file, position_of(text, len(text)), f"not TOML: {said.removesuffix(_AT_END)}")
    number = _LONG_NUMBER.search(text)
    return problem_at(file, position_of(text, number.start() if number else 0), TOO_LARGE)


def position_of(text: str, offset: int) -> FilePosition:
    """The line and the column of a character."""
    return FilePosition(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def _check(document: ScenarioDocument) -> None:
    """Refuses what is too much, and dates and times, which no field takes."""
    count = 0
    waiting: list[tuple[ValuePath, Any]] = [((), document.value)]
    while waiting:
        path, value = waiting.pop()
        count += 1
        if problem := excess(count, len(path) + 1):
            raise document.problem(path, problem)
        if isinstance(value, dict | list):
            entries: Any = value.items() if isinstance(value, dict) else enumerate(value)
            waiting.extend(((*path, key), each) for key, each in entries)
        elif fault := scalar_fault(value):
            raise document.problem(path, fault)
        elif not isinstance(value, str | bool | int | float):
            raise document.problem(path, f"a date or a time is written as a text, not {value}")


def _locate(text: str, path: ValuePath, of_key: bool) -> FilePosition:
    from .toml_places import TomlPlaces  # for an error alone

    places = TomlPlaces(text)
    found = path
    while found and found not in places.keys:
        found = found[:-1]
    by_path = places.keys if of_key and found == path else places.values
    return position_of(text, by_path.get(found, 0))
