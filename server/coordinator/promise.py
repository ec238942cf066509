"""An answer that comes later, from whoever brings the state to the point where it can be given.

Rules. The state machine holds the promise and keeps it once; every request that hangs on it then gets the same answer. A request whose
connection ends leaves the promise alone: who is waited for in a rebalance is state, not a connection.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from ..requests.waiting import Until, Wait, Waiters

T = TypeVar("T")


class Promise(Generic[T]):
    """`answer` is None until `keep` gives it."""

    __slots__ = ("_waiters", "answer")

    def __init__(self, answer: T | None = None) -> None:
        self.answer = answer
        self._waiters = Waiters()

    def keep(self, answer: T) -> None:
        """Answer everybody who waits; a second answer is ignored."""
        if self.answer is None:
            self.answer = answer
            self._waiters.wake_all()

    def wait(self) -> Wait[T]:
        """The answer, as a handler that waits for it."""
        while self.answer is None:
            yield Until(None, (self._waiters,))
        return self.answer

    def __repr__(self) -> str:
        return f"kept: {self.answer!r}" if self.answer is not None else f"open, {self._waiters!r}"
