"""The log cleaner: which compacted log is cleaned next, a little at a time (`log.cleaner.*`).

Rules, as in Kafka. Every replica is cleaned, whether it leads or follows, as far as its own high
watermark allows. One log is cleaned at a time: the one with the largest dirty share, or one whose
oldest dirty record has waited for `max.compaction.lag.ms`. When none is due the cleaner looks again
after `log.cleaner.backoff.ms`. Requests are served between two steps. A cleaning goes on over an
election. It is dropped when the replica goes, or when its log is truncated meanwhile; it has changed
nothing then. A log that could not be cleaned is not tried again.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from ..log.files.errors import DiskFailure
from .replicas import PartitionReplica, all_replicas, find_replica

if TYPE_CHECKING:
    from ..log.compaction.cleaner import Cleaned, Cleaning
    from ..log.log import PartitionLog
    from ..node import Node

log = logging.getLogger("kafkadouble.server.replica")

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
        self._under_way: tuple[PartitionLog, Cleaning] | None = None
        self._uncleanable: list[PartitionLog] = []
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
        from ..log.compaction.cleaner import clean  # not before it is wanted: a node starts without it

        most = int(self._node.settings.int("log.cleaner.dedupe.buffer.size") * LOAD) // KAFKAS_ENTRY
        self._under_way = chosen, clean(chosen, now, max(1, min(most, MOST_KEYS)))
        self._go_on(now)

    def _filthiest(self, now: int) -> PartitionLog | None:
        from ..log.compaction.ranges import cleanable, is_due

        due = []
        for each in self._candidates():
            with suppress(DiskFailure):  # the node reports it
                found = cleanable(each, now)
                if is_due(found, each.config.min_cleanable_dirty_ratio):
                    due.append((found.overdue, found.ratio, each))
        return max(due, key=lambda entry: entry[:2])[2] if due else None

    def _candidates(self) -> list[PartitionLog]:
        self._uncleanable = [each for each in self._uncleanable if self._replica_of(each)]
        logs = [each.log for each in all_replicas(self._node)]
        return [
            each for each in logs if each.config.compacts and len(each.segments) > 1 and each not in self._uncleanable
        ]

    def _replica_of(self, log: PartitionLog) -> PartitionReplica | None:
        """The replica that has this log now; None if it is gone."""
        replica = find_replica(self._node, log.topic, log.index)
        return replica if replica is not None and replica.log is log else None

    def _go_on(self, now: int) -> None:
        from ..log.compaction.cleaner import CleaningAborted

        assert self._under_way is not None
        cleaned, steps = self._under_way
        if self._replica_of(cleaned) is None:
            self._end(cleaned, None)
            return
        try:
            next(steps)
        except StopIteration as end:
            self._end(cleaned, end.value)
        except CleaningAborted as why:
            log.info("the cleaning of %r is dropped: %s", cleaned, why)
            self._end(cleaned, None)
        except DiskFailure:  # the node reports it
            self._give_up(cleaned)
        except Exception:
            log.exception("%r cannot be cleaned", cleaned)
            self._give_up(cleaned)
        else:
            self._node.waiting.timers.at(now + PAUSE, self._go_on)

    def _give_up(self, uncleanable: PartitionLog) -> None:
        """Kafka marks such a log as uncleanable. It would be the dirtiest log again at each look."""
        self._uncleanable.append(uncleanable)
        self._end(uncleanable, None)

    def _end(self, partition: PartitionLog, cleaned: Cleaned | None) -> None:
        self._under_way = None
        if cleaned is None:
            self._look_later()
            return
        log.info("%r is cleaned: %d bytes of %d are left", partition, cleaned.left, cleaned.read)
        replica = self._replica_of(partition)
        if replica is not None:
            replica.wake_waiters()
        self._look(self._node.now)

    def __repr__(self) -> str:
        return f"cleaner, at {self._under_way[0]!r}" if self._under_way else "cleaner, waiting"
