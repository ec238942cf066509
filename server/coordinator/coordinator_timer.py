"""The timers of a coordinator shard, by key (Kafka: `CoordinatorTimer`).

A key is a tuple such as ("session", group id, member id). Scheduling a key again replaces its
timer. An action writes records; if the log refuses them, it runs again after RETRY_BACKOFF_MS,
because a member whose session has expired must not stay in its group.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

from kafkadouble.wire.client_log import ClientLog

from ..requests.request import Refusal
from ..requests.timers import Timer

if TYPE_CHECKING:
    from .coordinator_shard import CoordinatorShard

RETRY_BACKOFF_MS = 500
"""The pause before an action whose write failed runs again."""

log = ClientLog("kafkadouble.server.coordinator")


class CoordinatorTimer:
    """The keyed timers of one shard."""

    def __init__(self, shard: CoordinatorShard) -> None:
        self._shard = shard
        self._timers: dict[Hashable, Timer] = {}

    def schedule(self, key: Hashable, delay_ms: int, action: Callable[[], None]) -> None:
        """Calls `action()` after `delay_ms`, instead of what was scheduled for the key."""
        self.cancel(key)
        self._timers[key] = self._shard.schedule(delay_ms, lambda now: self._run(key, action))

    def schedule_if_absent(self, key: Hashable, delay_ms: int, action: Callable[[], None]) -> None:
        """Does the same, unless the key is scheduled."""
        if key not in self._timers:
            self.schedule(key, delay_ms, action)

    def cancel(self, key: Hashable) -> None:
        if (timer := self._timers.pop(key, None)) is not None:
            timer.cancel()

    def cancel_all(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def is_scheduled(self, key: Hashable) -> bool:
        return key in self._timers

    def deadline(self, key: Hashable) -> int | None:
        """Returns when the key's action runs (ms); None if it is not scheduled."""
        timer = self._timers.get(key)
        return None if timer is None else timer.deadline

    def _run(self, key: Hashable, action: Callable[[], None]) -> None:
        del self._timers[key]
        try:
            action()
        except Refusal as refusal:
            log.info("%r: the action of timer %r failed with error %s: retrying", self._shard, key, refusal.code)
            self.schedule(key, RETRY_BACKOFF_MS, action)

    def __len__(self) -> int:
        return len(self._timers)

    def __repr__(self) -> str:
        return f"{len(self._timers)} timers of {self._shard!r}"
