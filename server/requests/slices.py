"""Work on many elements in slices, as steps of a handler: see `waiting.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from functools import wraps
from heapq import merge
from itertools import chain, islice
from typing import Any, ParamSpec, TypeVar

from .waiting import OTHERS_FIRST, SLICE, Until, Wait, sliced

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)
P = ParamSpec("P")


def divided(is_first: Callable[[T], bool], elements: Iterable[T]) -> Wait[tuple[list[T], list[T]]]:
    """The elements for which the function is true, and the others, divided in slices."""
    found: tuple[list[T], list[T]] = [], []
    yield from sliced(lambda element: found[not is_first(element)].append(element), elements)
    return found


def counted(elements: Iterable[H]) -> Wait[Counter[H]]:
    """How often each element is there, counted in slices."""
    times, left = Counter[H](), iter(elements)
    while chunk := list(islice(left, SLICE)):
        times.update(chunk)
        if len(chunk) == SLICE:
            yield OTHERS_FIRST
    return times


FEW_RUNS = 16
"""So many sorted parts are sorted together in less than a millisecond."""


def ordered(elements: Iterable[T], key: Callable[[T], Any] | None = None) -> Wait[list[T]]:
    """The elements in order, sorted in slices."""
    runs, left = list[list[T]](), iter(elements)
    while chunk := list(islice(left, SLICE)):
        runs.append(sorted(chunk, key=key))  # type: ignore[type-var, arg-type]
        if len(chunk) == SLICE:
            yield OTHERS_FIRST
    if len(runs) <= FEW_RUNS:
        return sorted(chain.from_iterable(runs), key=key)  # type: ignore[type-var, arg-type]
    return (yield from sliced(lambda element: element, merge(*runs, key=key)))  # type: ignore[arg-type]


def in_one_step(steps: Wait[T]) -> T:
    """The result of steps that only let others run first, without letting them."""
    try:
        while True:
            until = next(steps)
            assert until is OTHERS_FIRST, until
    except StopIteration as end:
        result: T = end.value
        return result


def begun(steps: Callable[P, Wait[T]]) -> Callable[P, T | Wait[T]]:
    """Decorates a generator function. It runs to the first `yield` when it is called: if it ends
    before that, the result is returned, which is cheap for a small request; else the steps that
    are left.
    """

    @wraps(steps)
    def begin(*args: P.args, **kwargs: P.kwargs) -> T | Wait[T]:
        left = steps(*args, **kwargs)
        try:
            first = next(left)
        except StopIteration as end:
            result: T = end.value
            return result
        return _continued(first, left)

    return begin


def _continued(until: Until, left: Wait[T]) -> Wait[T]:
    """The steps behind the `yield` of `until`."""
    try:
        while True:
            until = left.send((yield until))
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        left.close()
