"""Runs a handler that yields slices to its end."""

from __future__ import annotations

from typing import TypeVar

from kafkadouble.server.requests.waiting import OTHERS_FIRST, Wait

T = TypeVar("T")


def all_slices(steps: Wait[T]) -> T:
    """The result of a handler that only lets others run first."""
    while True:
        try:
            assert next(steps) is OTHERS_FIRST
        except StopIteration as end:
            result: T = end.value
            return result
