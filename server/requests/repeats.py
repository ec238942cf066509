"""Bounds the bytes of a response that answer repeated names.

Kafka answers a name in a request as often as the request repeats it. Here that holds up to a bound
in bytes, so that a small request cannot cause an endless response: what one name stands for can be
as large as a client has made it. A name that comes again has the answer that it had before, which
takes neither time nor memory of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from kafkadouble.messages.size import size_of

from .waiting import Wait

MOST_BYTES = 4 << 20
"""The most bytes that answer repeated names, by estimate."""

T = TypeVar("T")


class Repeats(Generic[T]):
    """The names that one request has used so far, with their answers."""

    def __init__(self) -> None:
        self._answers: dict[Hashable, T] = {}
        self._sizes: dict[Hashable, int] = {}  # of those that came again
        self._left = MOST_BYTES

    def answer(self, name: Hashable, make: Callable[[], T]) -> T | None:
        """The answer for a name: made the first time, then the same up to the bound, and then
        None."""
        if name not in self._answers:
            made = self._answers[name] = make()
            return made
        return self._again(name)

    def answer_in_steps(self, name: Hashable, make: Callable[[], Wait[T]]) -> Wait[T | None]:
        """`answer` for a name whose answer is made in steps."""
        if name not in self._answers:
            made = self._answers[name] = yield from make()
            return made
        return self._again(name)

    def _again(self, name: Hashable) -> T | None:
        if name not in self._sizes:
            self._sizes[name] = max(1, size_of(self._answers[name]))
        if self._sizes[name] > self._left:
            return None
        self._left -= self._sizes[name]
        return self._answers[name]
