"""Compares two answers, field by field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .normal import UNORDERED

ABSENT = "absent"


class Difference(NamedTuple):
    """A difference between two answers; `path` has `[]` for any element of a list."""

    path: str
    ours: Any
    theirs: Any

    def __str__(self) -> str:
        return f"{self.path or 'the outcome'}: ours {self.ours!r}, theirs {self.theirs!r}"


class RequestDifference(NamedTuple):
    script: str
    line: int
    api: str
    version: int
    difference: Difference

    def __str__(self) -> str:
        return f"{self.script}:{self.line} {self.api} v{self.version} {self.difference}"


def differences(ours: Any, theirs: Any, path: str = "") -> Iterator[Difference]:
    """Every difference of two normalised outcomes."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in {**ours, **theirs}:
            inner = f"{path}.{name}" if path else name
            yield from differences(ours.get(name, ABSENT), theirs.get(name, ABSENT), inner)
    elif isinstance(ours, list) and isinstance(theirs, list):
        for one, other in _pairs(ours, theirs, path.rpartition(".")[2]):
            yield from differences(one, other, f"{path}[]")
    elif ours != theirs:
        yield Difference(path, ours, theirs)


def _pairs(ours: list[Any], theirs: list[Any], name: str) -> Iterator[tuple[Any, Any]]:
    """Pairs of elements: by their key if the list has no order, by position otherwise."""
    if name in UNORDERED and all(isinstance(each, dict) for each in ours + theirs):
        ours, theirs = _with_keys(ours, name), _with_keys(theirs, name)
        mine, yours = dict(ours), dict(theirs)
        yield from ((mine.get(key, ABSENT), yours.get(key, ABSENT)) for key in {**mine, **yours})
        return
    for index in range(max(len(ours), len(theirs))):
        yield (
            ours[index] if index < len(ours) else ABSENT,
            theirs[index] if index < len(theirs) else ABSENT,
        )


def _in_order(part: Any) -> Any:
    return sorted(map(repr, part)) if isinstance(part, list) else part


def _with_keys(elements: list[dict[str, Any]], name: str) -> list[tuple[Any, Any]]:
    """Elements with their keys; an element whose key came before gets a number as well."""
    seen: dict[str, int] = {}
    keyed = []
    for element in elements:
        key = repr([_in_order(element.get(part)) for part in UNORDERED[name]])
        seen[key] = seen.get(key, 0) + 1
        keyed.append(((key, seen[key]), element))
    return keyed
