"""Whether an answer is what a transcript says.

What the transcript names must be as it says; what it does not name may be anything, but for an error code, which must then be NONE. `_`
stands for anything, `$name` for the same thing everywhere in one transcript. Lists match element by element; a record that is only a text
is its value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

NAME = re.compile(r"\$(\w+)\Z")


class Mismatch(AssertionError):
    """The answer is another one."""


def match(expected: Any, actual: Any, known: dict[str, Any], path: str = "answer") -> None:
    """Raise Mismatch where they differ; names that are new are learnt."""
    if expected == "_":
        return
    if isinstance(expected, str) and (name := NAME.match(expected)):
        if known.setdefault(name[1], actual) != actual:
            raise Mismatch(f"{path}: ${name[1]} is {known[name[1]]!r}, not {actual!r}")
    elif isinstance(expected, dict) and isinstance(actual, dict):
        _match_dict(expected, actual, known, path)
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            raise Mismatch(f"{path}: {len(expected)} expected, {len(actual)} came: {actual!r}")
        for index, (one, other) in enumerate(zip(expected, actual, strict=True)):
            match(one, other, known, f"{path}[{index}]")
    elif isinstance(actual, dict) and "value" in actual:
        match(expected, actual["value"], known, f"{path}.value")
    elif not same(expected, actual):
        raise Mismatch(f"{path}: {expected!r} expected, {actual!r} came")


def same(expected: Any, actual: Any) -> bool:
    """Equal, where a number in YAML may stand for a text of digits."""
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
    """A request in which every `$name` is what it stands for."""
    if isinstance(value, dict):
        return {name: filled(each, known) for name, each in value.items()}
    if isinstance(value, list):
        return [filled(each, known) for each in value]
    if isinstance(value, str) and (name := NAME.match(value)):
        return known[name[1]]
    return value
