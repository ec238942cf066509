"""The verb called, and an observer that goes on, of replicas that are served."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kafkadouble.__main__ import main
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.topic_record import TopicRecord
from kafkadouble.messages.uuid import Uuid
from kafkadouble.observe.observer import Observer
from kafkadouble.observe.watching import WatchOptions, observe
from tests.support.served_replica import ServedReplica


async def called(*words: str) -> int:
    """The verb, on a thread of its own: its event loop is another one."""
    return await asyncio.to_thread(main, ["observe", *words])


def at(*members: ServedReplica) -> str:
    return ",".join("{}:{}".format(*member.endpoint) for member in members)


def named(number: int) -> TopicRecord:
    return TopicRecord(name=f"topic-{number}", topic_id=Uuid(number.to_bytes(16, "big")))


async def seen(member: ServedReplica) -> Observer:
    """What an observer of it has once it has read everything."""
    observers: list[Observer] = []
    await observe(WatchOptions([member.endpoint]), observers.append)
    return observers[0]


class Watching:
    """An observer that goes on until the test has seen what it waits for."""

    def __init__(self, *members: ServedReplica, replica_id: int = -1) -> None:
        self._options = WatchOptions([member.endpoint for member in members], replica_id, timeout=20)
        self._moved = asyncio.Event()
        self.observer: Observer | None = None
        self._task = asyncio.get_running_loop().create_task(observe(self._options, self._on_change, self._on_change))

    def _on_change(self, observer: Observer) -> None:
        self.observer = observer
        self._moved.set()

    async def until(self, holds: Callable[[Observer], bool]) -> Observer:
        while self.observer is None or not holds(self.observer):
            self._moved.clear()
            await self._moved.wait()
        return self.observer

    async def end(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


def has(name: str) -> Callable[[Observer], bool]:
    return lambda observer: name in observer.view.image.topic_ids


def fetchers(member: ServedReplica) -> list[int]:
    return [each.body.replica_state.replica_id for each in member.requested if each.api_key == ApiKeys.FETCH]
