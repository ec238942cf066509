"""Classes whose instances callers give back, such as a rule or a record that was read.

Each class says so where it is defined, and the table of parameters asks for it by a name. So the
table knows no module of a verb. If a class was not imported, no value is one of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

C = TypeVar("C", bound=type)

_KINDS: dict[str, tuple[type, ...]] = {}


def given_as(kind: str) -> Callable[[C], C]:
    """Marks a class as one of this kind."""

    def mark(cls: C) -> C:
        _KINDS[kind] = (*_KINDS.get(kind, ()), cls)
        return cls

    return mark


def is_given_as(kind: str, value: object) -> bool:
    """Whether a value is an instance of a class of this kind."""
    return isinstance(value, _KINDS.get(kind, ()))
