"""The bytes of requests that are not answered yet, over all connections of a node, under one bound.

A frame that is announced costs nothing; its bytes count when they come. (A Kafka broker sets the memory of a frame aside as soon as its size
has arrived, so that fifty connections which announce 100 MB each bring it down.) Rules. Everybody may hold `ALLOWANCE` bytes at any time, so
that ordinary requests never wait for others. When all together hold more than the limit, those who hold more than that are read no further,
but for one, the one that holds most: it may finish, and give its bytes back. So memory is bounded by the limit, one frame, and what one read of
every connection brings; and somebody always gets on. Who is let through and has not finished after `PATIENCE_MS` is disconnected: one who
sends a byte now and then would hold up all who have a large request.
"""

from __future__ import annotations

from typing import Protocol

from .timers import Timer, Timers

ALLOWANCE = 64 * 1024
PATIENCE_MS = 10_000


class Holder(Protocol):
    """A connection, as far as this file knows it."""

    def restrain(self, restrained: bool) -> None:
        """Read no further, or read again."""

    def end(self, why: str) -> None:
        """Close, and say why."""


class Intake:
    """What is held, by connection. `limit` is in bytes."""

    def __init__(self, limit: int, timers: Timers) -> None:
        self.limit, self._timers = limit, timers
        self.total = 0
        self._held: dict[Holder, int] = {}
        self._favoured: Holder | None = None
        self._restrained: set[Holder] = set()
        self._watch: Timer | None = None

    def note(self, holder: Holder, held: int, now: int) -> None:
        """`holder` now holds that many bytes; 0 when it has gone."""
        before = self._held.pop(holder, 0)
        if held:
            self._held[holder] = held
        self.total += held - before
        if holder is self._favoured and held <= ALLOWANCE:
            self._favoured = None
            self._stop_watching()
        if self.total > self.limit:
            self._restrain(now)
        elif self._favoured is not None or self._restrained:
            self._release()

    def _restrain(self, now: int) -> None:
        if self._favoured is None:
            self._favoured = max(self._held, key=self._held.__getitem__)
            self._watch_favoured(now)
            if self._favoured in self._restrained:
                self._restrained.discard(self._favoured)
                self._favoured.restrain(False)
        for holder, held in list(self._held.items()):
            if held > ALLOWANCE and holder is not self._favoured and holder not in self._restrained:
                self._restrained.add(holder)
                holder.restrain(True)

    def _release(self) -> None:
        released, self._restrained, self._favoured = self._restrained, set(), None
        self._stop_watching()
        for holder in released:
            holder.restrain(False)

    def _watch_favoured(self, now: int) -> None:
        self._stop_watching()
        self._watch = self._timers.at(now + PATIENCE_MS, self._give_up)

    def _stop_watching(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None

    def _give_up(self, now: int) -> None:
        holder, self._favoured, self._watch = self._favoured, None, None
        if holder is not None and self._restrained:
            holder.end(
                f"holds {self._held.get(holder, 0)} bytes of a request, does not send the rest, and others wait for the memory"
            )
            self.note(holder, 0, now)

    def __repr__(self) -> str:
        return f"{self.total} of {self.limit} bytes held by {len(self._held)} connections, {len(self._restrained)} restrained"
