"""A response that the state machine of a coordinator completes later (Kafka: `CompletableFuture`).

The state machine owns the future and completes it once. Every request that waits for it gets the
same response. When a connection closes, its request stops waiting and the future stays: membership
in a rebalance is state of the group, not of a connection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from ..requests.waiting import Until, Wait, Waiters

T = TypeVar("T")


class ResponseFuture(Generic[T]):
    """`response` is None until `complete` sets it."""

    __slots__ = ("_actions", "_waiters", "response")

    def __init__(self, response: T | None = None) -> None:
        self.response = response
        self._waiters = Waiters()
        self._actions: tuple[Callable[[T], None], ...] = ()

    def complete(self, response: T) -> None:
        """Answers every waiting request. A second response is ignored."""
        if self.response is None:
            self.response = response
            self._waiters.wake_all()
            actions, self._actions = self._actions, ()
            for action in actions:
                action(response)

    def when_complete(self, action: Callable[[T], None]) -> None:
        """Calls `action` with the response, at once if it is there."""
        if self.response is None:
            self._actions = (*self._actions, action)
        else:
            action(self.response)

    def wait(self) -> Wait[T]:
        """Waits for the response, as the generator of a handler."""
        while self.response is None:
            yield Until(None, (self._waiters,))
        return self.response

    def __repr__(self) -> str:
        return f"completed: {self.response!r}" if self.response is not None else f"open, {self._waiters!r}"
