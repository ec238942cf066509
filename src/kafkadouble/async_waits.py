"""The verbs that wait, for programs with an event loop of their own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from .awaited import Awaited, outcome_later
from .verbs.waiting import WaitVerbs

if TYPE_CHECKING:
    from .running import Running

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")


class _Waits(WaitVerbs):
    """WaitVerbs whose methods return what is to be awaited."""

    def __init__(self, serving: Callable[[], Running]) -> None:
        self._source = serving

    def _serving(self) -> Running:
        return self._source()

    _known = _serving

    def _wait(self, awaited: Awaited[V], result: Callable[[V], T], timeout: float) -> Any:
        return self._later(awaited, result, timeout)

    async def _later(self, awaited: Awaited[V], result: Callable[[V], T], timeout: float) -> T:
        return result(await outcome_later(self._serving(), awaited, timeout))


def _as_coroutine(
    verb: Callable[Concatenate[Any, P], T],
) -> Callable[Concatenate[AsyncWaits, P], Coroutine[Any, Any, T]]:
    async def wait(self: AsyncWaits, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await cast(Awaitable[T], verb(self._waits, *args, **kwargs))

    wait.__doc__, wait.__name__ = verb.__doc__, verb.__name__
    return wait


class AsyncWaits:
    """The methods of KafkaDouble that wait, as coroutines. One that is cancelled waits no more."""

    def __init__(self, serving: Callable[[], Running]) -> None:
        self._waits = _Waits(serving)

    wait_for_records = _as_coroutine(WaitVerbs.wait_for_records)
    wait_for_topic = _as_coroutine(WaitVerbs.wait_for_topic)
    wait_for_leader = _as_coroutine(WaitVerbs.wait_for_leader)
    wait_for_isr = _as_coroutine(WaitVerbs.wait_for_isr)
    wait_for_broker = _as_coroutine(WaitVerbs.wait_for_broker)
    wait_for_group = _as_coroutine(WaitVerbs.wait_for_group)
    wait_for_transaction = _as_coroutine(WaitVerbs.wait_for_transaction)
    wait_for_rule = _as_coroutine(WaitVerbs.wait_for_rule)
    wait_for_request = _as_coroutine(WaitVerbs.wait_for_request)
