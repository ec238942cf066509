"""The verbs as coroutines, for asyncio programs.

The verbs that wait for a state run in the event loop. Any other verb runs in a thread, because it
may block: while a record is replicated, a broker starts, or a double is reset.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from kafkadouble.host import host_clock
from kafkadouble.host.host import host_of
from kafkadouble.waits.awaited import Awaited, outcome_later

from .content import waiting
from .registry import VERBS

if TYPE_CHECKING:
    from kafkadouble.host.host import Host

    from .double_api import DoubleApi

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")


class _Waits:
    """Replaces the host in a verb that waits: here, `wait` is a coroutine."""

    def __init__(self, host: Host) -> None:
        self._host, self.known, self.serving = host, host.known, host.serving

    async def wait(self, awaited: Awaited[V], result: Callable[[V], T], timeout: float, advance: bool) -> T:
        moves = host_clock.moves(self._host, advance)
        return result(await outcome_later(self.serving(), awaited, timeout, moves))


def _as_coroutine(
    verb: Callable[Concatenate[Any, P], T],
) -> Callable[Concatenate[AsyncWaits, P], Coroutine[Any, Any, T]]:
    async def wait(self: AsyncWaits, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await cast(Awaitable[T], verb(self._waits, *args, **kwargs))

    wait.__doc__, wait.__name__ = verb.__doc__, verb.__name__
    return wait


class AsyncWaits:
    """The methods of KafkaDouble that are verbs, as coroutines. If a verb that waits is cancelled,
    its wait ends. If another verb is cancelled, it still completes in its thread."""

    def __init__(self, kafka: DoubleApi) -> None:
        self._kafka, self._waits = kafka, _Waits(host_of(kafka))

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        method = None if name.startswith("_") else getattr(type(self._kafka), name, None)
        if name not in VERBS or not callable(method):
            raise AttributeError(f"aio has no {name!r}: it has the verbs that are methods of KafkaDouble")
        return partial(asyncio.to_thread, method, self._kafka)

    wait_for_records = _as_coroutine(waiting.wait_for_records)
    wait_for_topic = _as_coroutine(waiting.wait_for_topic)
    wait_for_leader = _as_coroutine(waiting.wait_for_leader)
    wait_for_isr = _as_coroutine(waiting.wait_for_isr)
    wait_for_broker = _as_coroutine(waiting.wait_for_broker)
    wait_for_group = _as_coroutine(waiting.wait_for_group)
    wait_for_transaction = _as_coroutine(waiting.wait_for_transaction)
    wait_for_rule = _as_coroutine(waiting.wait_for_rule)
    wait_for_request = _as_coroutine(waiting.wait_for_request)
