"""Marks the methods that are verbs; `verbs/registry.py` has the table of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

MARK = "__is_verb__"


def verb(function: F) -> F:
    """Marks a method as a verb."""
    function.__dict__[MARK] = True
    return function
