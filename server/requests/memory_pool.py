"""Bounds the memory of requests that are not answered yet, over all connections of a node (Kafka's
MemoryPool, `queued.max.request.bytes`).

Bytes count when they arrive, not when a frame announces its size. (A Kafka broker allocates the
memory of a frame as soon as its size has arrived, so that fifty connections that announce 100 MB
each bring it down.) Rules:

- Every connection may hold `ALLOWANCE` bytes at any time, so that small requests never wait.
- When all connections together hold more than the limit, connections that hold more than
  `ALLOWANCE` are muted, except the one that holds most. That one may finish and give its bytes
  back.
- A connection that is the exception for `PATIENCE_MS` without finishing is disconnected. Otherwise
  a client that sends a byte now and then would stop all large requests.

So memory is bounded by the limit, one frame, and the bytes of one read of every connection, and
always one connection makes progress.
"""

from __future__ import annotations

from typing import Protocol

from .timers import Timer, Timers

ALLOWANCE = 64 * 1024
PATIENCE_MS = 10_000


class MemoryHolder(Protocol):
    """The interface of a connection that this module uses."""

    def restrain(self, restrained: bool) -> None:
        """Stops reading from the socket, or reads again."""

    def end(self, why: str) -> None:
        """Closes the connection for this reason."""


class MemoryPool:
    """The number of bytes that each connection holds. `limit` is in bytes."""

    def __init__(self, limit: int, timers: Timers) -> None:
        self.limit, self._timers = limit, timers
        self.total = 0
        self._held: dict[MemoryHolder, int] = {}
        self._favoured: MemoryHolder | None = None
        self._restrained: set[MemoryHolder] = set()
        self._watch: Timer | None = None

    def note(self, holder: MemoryHolder, held: int, now: int) -> None:
        """Records that `holder` now holds `held` bytes; 0 when it is closed."""
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
            self._stop_watching()
            self._watch = self._timers.at(now + PATIENCE_MS, self._give_up)
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
