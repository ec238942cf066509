"""Marks the functions that are members of KafkaDouble: each takes the host of the double first.

`python -m codegen` makes the class with them, and `verbs/registry.py` has the table of verbs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

VERB, ATTRIBUTE = "__is_verb__", "__is_attribute__"


def verb(function: F) -> F:
    """Marks a function, or a method of a part of the double, as a verb."""
    function.__dict__[VERB] = True
    return function


def attribute(function: F) -> F:
    """Marks a function that is read without a call: a verb if it is marked as one, too."""
    function.__dict__[ATTRIBUTE] = True
    return function


def method(function: F) -> F:
    """Marks a function that is called, and is no verb."""
    return function
