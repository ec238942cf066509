"""How long a connection stays open after its authentication failed: a client that tries many
passwords is slowed down (KIP-306)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from ...configs.settings import Settings
from ...requests.waiting import Until, Wait

T = TypeVar("T")


class DelayHost(Protocol):
    """A node, as far as the delay needs it."""

    @property
    def now(self) -> int: ...

    @property
    def settings(self) -> Settings: ...


def delay_ms(host: DelayHost) -> int:
    """The delay (ms)."""
    return host.settings.int("connection.failed.authentication.delay.ms")


def delayed(host: DelayHost, response: Callable[[], T]) -> Wait[T]:
    """The response to a request with which an authentication failed."""
    end = host.now + delay_ms(host)
    while (yield Until(end)):
        pass
    return response()
