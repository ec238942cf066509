"""The log cleaner: which compacted log is cleaned next, a little at a time (`log.cleaner.*`).

Rules, as in Kafka. One log is cleaned at a time, the one with the largest dirty share, or one whose oldest dirty record has waited for
`max.compaction.lag.ms`; when none is due the cleaner looks again after `log.cleaner.backoff.ms`. Between two steps everybody else has the node.
A cleaning whose partition goes, or whose log is truncated meanwhile, is dropped; it has changed nothing.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from .log.files.errors import DiskFailure

if TYPE_CHECKING:
    from .log.compaction.cleaner import Cleaned, Cleaning
    from .node import Node
    from .partition import Partition

log = logging.getLogger("kafkadouble.server")

PAUSE = 1
"""Milliseconds between two steps."""

LOAD = 0.9
"""Kafka's `log.cleaner.io.buffer.load.factor`: how full its key map may get."""

KAFKAS_ENTRY = 24
"""What a key costs in Kafka's map, by which `log.cleaner.dedupe.buffer.size` is to be read."""

MOST_KEYS = 1_000_000
"""Of more keys a cleaning learns nothing, and another one goes on from there: they would take some 160 MB."""


class Cleaner:
    """Cleans the logs of one node, one after the other."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._under_way: tuple[Partition, Cleaning] | None = None
        self._look_later()

    def _look_later(self) -> None:
        backoff = self._node.settings.int("log.cleaner.backoff.ms")
        self._node.waiting.timers.at(self._node.now + max(1, backoff), self._look)

    def _look(self, now: int) -> None:
        """Begin with the log that needs it most."""
        chosen = self._filthiest(now) if self._node.settings.bool("log.cleaner.enable") else None
        if chosen is None:
            self._look_later()
            return
        from .log.compaction.cleaner import clean  # not before it is wanted: a node starts without it

        most = int(self._node.settings.int("log.cleaner.dedupe.buffer.size") * LOAD) // KAFKAS_ENTRY
        self._under_way = chosen, clean(chosen.log, now, max(1, min(most, MOST_KEYS)))
        self._go_on(now)

    def _filthiest(self, now: int) -> Partition | None:
        from .log.compaction.ranges import cleanable, is_due

        due = []
        for partition in self._node.partitions:
            config = partition.log.config
            if config.compacts and not partition.offline and len(partition.log.segments) > 1:
                with suppress(DiskFailure):  # the node tells of it
                    found = cleanable(partition.log, now)
                    if is_due(found, config.min_cleanable_dirty_ratio):
                        due.append((found.overdue, found.ratio, partition))
        return max(due, key=lambda each: each[:2])[2] if due else None

    def _go_on(self, now: int) -> None:
        from .log.compaction.cleaner import Disturbed

        assert self._under_way is not None
        partition, steps = self._under_way
        if self._node.partitions.get(partition.topic, partition.index) is not partition:
            self._end(partition, None)
            return
        try:
            next(steps)
        except StopIteration as end:
            self._end(partition, end.value)
        except Disturbed as why:
            log.info("the cleaning of %r is dropped: %s", partition, why)
            self._end(partition, None)
        except DiskFailure:  # the node tells of it
            self._end(partition, None)
        except Exception:
            log.exception("%r cannot be cleaned", partition)
            self._end(partition, None)
        else:
            self._node.waiting.timers.at(now + PAUSE, self._go_on)

    def _end(self, partition: Partition, cleaned: Cleaned | None) -> None:
        self._under_way = None
        if cleaned is None:
            self._look_later()
            return
        log.info("%r is cleaned: %d bytes of %d are left", partition, cleaned.left, cleaned.read)
        partition.stir()
        self._look(self._node.now)

    def __repr__(self) -> str:
        return f"cleaner, at {self._under_way[0]!r}" if self._under_way else "cleaner, waiting"
