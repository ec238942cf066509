"""The steps until a connection may be used: generators that yield requests and are sent the
responses. A shell drives them: it chooses a version that the peer has, and sends and receives.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, NamedTuple, TypeVar

from kafkadouble.messages.message import Message

R = TypeVar("R")


class ConnectionStep(NamedTuple):
    """A request, in the newest version from `lowest` to `version` that the peer has."""

    body: Message
    version: int
    lowest: int = 0


Steps = Generator[ConnectionStep, Any, R]


def driven(steps: Steps[R], ask: Callable[[ConnectionStep], Any]) -> R:
    """The results of the steps. `ask` gives the response to one."""
    try:
        step = next(steps)
        while True:
            step = steps.send(ask(step))
    except StopIteration as end:
        result: R = end.value
        return result


async def driven_async(steps: Steps[R], ask: Callable[[ConnectionStep], Awaitable[Any]]) -> R:
    """As `driven`, for a shell that waits in coroutines."""
    try:
        step = next(steps)
        while True:
            step = steps.send(await ask(step))
    except StopIteration as end:
        result: R = end.value
        return result
