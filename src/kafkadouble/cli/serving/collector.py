"""Garbage collection in the process of `serve`: old objects are not traversed again and again.

Python's collector traverses all objects whenever their number has grown by a quarter. With the
objects of 50,000 partitions, or of a request for as many, that is a pause of half a second, several
times in ten seconds.

Rules. What survives a collection of the oldest generation is frozen, and so is what work left that
made many objects (`gc_pause.py`): no collection traverses it again. It is freed when nothing refers
to it; only reference cycles stay, and connections and requests leave few. A full collection is due
when for `LOOKS` looks the process has used twice the blocks of memory that it used after the last
one, and `SLACK` more: cycles stay, while the objects of a wide request come and go. While the
process has much to do, it is due at `BUSY` times as many: then clients would wait for it.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import process_time
from typing import Any

from kafkadouble.server.requests import gc_pause

SLACK = 500_000
"""Blocks of memory of Python's objects: some 40 MB of cycles."""

LOOK_S, LOOKS = 1.0, 10
BUSY, IDLE_S = 8, 0.1
"""Of CPU time since the last look: an idle process has used less."""

OLDEST = 2


class Collector:
    """Freezes what gets old, and looks whether a full collection is due."""

    def __init__(self) -> None:
        self._most = self._looks = 0
        self._used_s = process_time()

    def begin(self) -> None:
        """Freezes everything that exists, which stays."""
        gc.freeze()
        gc.collect()  # of no object: the next one is due at a quarter of what this one has kept
        self._most, self._looks = 2 * sys.getallocatedblocks() + SLACK, 0

    def on_gc(self, phase: str, info: Mapping[str, Any]) -> None:
        """Called by Python before and after each collection."""
        if phase == "stop" and info["generation"] == OLDEST:
            gc.freeze()

    def look(self) -> None:
        """Makes a full collection if it is due."""
        before, self._used_s = self._used_s, process_time()
        most = self._most if self._used_s - before < IDLE_S else BUSY * self._most
        self._looks = self._looks + 1 if sys.getallocatedblocks() > most else 0
        if self._looks == LOOKS:
            gc.unfreeze()
            gc.collect()
            self.begin()


@contextmanager
def collecting() -> Iterator[Collector]:
    """Collects garbage by these rules, for as long as the event loop of this process runs."""
    collector, before, loop = Collector(), gc_pause.many_made, asyncio.get_running_loop()
    timer: list[asyncio.TimerHandle] = []

    def look() -> None:
        collector.look()
        timer[:] = [loop.call_later(LOOK_S, look)]

    collector.begin()
    gc.callbacks.append(collector.on_gc)
    gc_pause.many_made = gc.freeze
    look()
    try:
        yield collector
    finally:
        timer[0].cancel()
        gc_pause.many_made = before
        gc.callbacks.remove(collector.on_gc)
