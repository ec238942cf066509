"""Compares a response with a transcript.

A field that the transcript names must have that value. Other fields may have any value, except
error codes, which must be NONE. `_` matches anything, `$name` the same value everywhere in one
transcript, and `now`, `now+2h` or `now-1ms` a time. Lists match element by element; `...` matches
any number of elements. A record that is only a text is its value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

NAME = re.compile(r"\$(\w+)\Z")
TIME = re.compile(r"now(?:([+-]\d+)(ms|s|m|h))?\Z")
UNITS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}
NOW = "now"
"""The key of the time in `known`."""

REST = "..."


class Mismatch(AssertionError):
    """The response is not what the transcript says."""


def match(expected: Any, actual: Any, known: dict[str, Any], path: str = "answer") -> None:
    """Raises Mismatch where they differ; new names are added to `known`."""
    if expected == "_":
        return
    expected = _time(expected, known)
    if isinstance(expected, str) and (name := NAME.match(expected)):
        if known.setdefault(name[1], actual) != actual:
            raise Mismatch(f"{path}: ${name[1]} is {known[name[1]]!r}, not {actual!r}")
    elif isinstance(expected, dict) and isinstance(actual, dict):
        _match_dict(expected, actual, known, path)
    elif isinstance(expected, list) and isinstance(actual, list):
        _match_list(expected, actual, known, path)
    elif isinstance(actual, dict) and "value" in actual:
        match(expected, actual["value"], known, f"{path}.value")
    elif not same(expected, actual):
        raise Mismatch(f"{path}: {expected!r} expected, {actual!r} came")


def _match_list(expected: list[Any], actual: list[Any], known: dict[str, Any], path: str) -> None:
    if REST in expected:
        _match_some(expected, actual, known, path)
        return
    if len(expected) != len(actual):
        raise Mismatch(f"{path}: {len(expected)} expected, {len(actual)} came: {actual!r}")
    for index, (one, other) in enumerate(zip(expected, actual, strict=True)):
        match(one, other, known, f"{path}[{index}]")


def _match_some(expected: list[Any], actual: list[Any], known: dict[str, Any], path: str) -> None:
    """The expected elements are there in this order; `...` allows more elements at its place."""
    at, may_skip = 0, False
    for one in expected:
        if one == REST:
            may_skip = True
            continue
        end = len(actual) if may_skip else at + 1
        found = next((index for index in range(at, min(end, len(actual))) if _matches(one, actual[index], known)), None)
        if found is None:
            raise Mismatch(f"{path}: no {one!r} from [{at}] on: {actual!r}")
        at, may_skip = found + 1, False
    if at < len(actual) and not may_skip:
        raise Mismatch(f"{path}: nothing more expected from [{at}] on: {actual!r}")


def _matches(expected: Any, actual: Any, known: dict[str, Any]) -> bool:
    learnt = dict(known)
    try:
        match(expected, actual, learnt)
    except Mismatch:
        return False
    known |= learnt
    return True


def _time(value: Any, known: dict[str, Any]) -> Any:
    if isinstance(value, str) and (found := TIME.match(value)):
        return known[NOW] + (int(found[1]) * UNITS[found[2]] if found[1] else 0)
    return value


def same(expected: Any, actual: Any) -> bool:
    """Whether they are equal; a number in YAML may be a text of digits."""
    return bool(expected == actual or (isinstance(actual, str) and str(expected) == actual))


def _match_dict(expected: dict[str, Any], actual: dict[str, Any], known: dict[str, Any], path: str) -> None:
    for name, value in expected.items():
        if name not in actual:
            raise Mismatch(f"{path} has no {name}; it has {sorted(actual)}")
        match(value, actual[name], known, f"{path}.{name}")
    for where, code in errors_in({k: v for k, v in actual.items() if k not in expected}, path):
        raise Mismatch(f"{where}: {code} came, and no error was expected")


def errors_in(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every error code that is not NONE, with its path."""
    if isinstance(value, dict):
        for name, each in value.items():
            if name.endswith("rrorCode") and each != "NONE":
                yield f"{path}.{name}", each
            else:
                yield from errors_in(each, f"{path}.{name}")
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from errors_in(each, f"{path}[{index}]")


def filled(value: Any, known: dict[str, Any]) -> Any:
    """A request with every `$name` and every time replaced by its value."""
    if isinstance(value, dict):
        return {name: filled(each, known) for name, each in value.items()}
    if isinstance(value, list):
        return [filled(each, known) for each in value]
    if isinstance(value, str) and (name := NAME.match(value)):
        return known[name[1]]
    return _time(value, known)
