"""The log cleaner: selects the next compacted log, and cleans it in steps (`log.cleaner.*`).

Rules, as in Kafka. Every replica is cleaned up to its own high watermark, whether it leads or
follows. One log is cleaned at a time: the one with the largest dirty ratio, or one whose oldest
dirty record has waited for `max.compaction.lag.ms`. If none is due, the cleaner looks again after
`log.cleaner.backoff.ms`. Requests are served between two steps. A cleaning continues over an
election. It is dropped without a change if the replica is removed or its log is truncated. A log
that moves to another directory is not cleaned meanwhile. A log whose cleaning failed is not tried
again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from kafkadouble.wire.client_log import ClientLog

from ..log.files.errors import DiskFailure
from .partition_replicas import PartitionReplica, all_replicas, find_replica

if TYPE_CHECKING:
    from ..log.compaction.cleaner import Cleaned, Cleaning
    from ..log.compaction.ranges import LogToClean
    from ..log.log import PartitionLog
    from .host import ReplicaHost

log = ClientLog("kafkadouble.server.replica")

STEP_DELAY_MS = 1

LOAD_FACTOR = 0.9
"""Kafka's `log.cleaner.io.buffer.load.factor`: how full its offset map may get."""

OFFSET_MAP_ENTRY_BYTES = 24
"""The size of a key in Kafka's offset map, which gives `log.cleaner.dedupe.buffer.size` meaning."""

MAX_KEYS = 1_000_000
"""The most keys of one cleaning (about 160 MB); the next cleaning continues from there."""


class LogCleaner:
    """Cleans the logs of one node, one at a time."""

    def __init__(self, node: ReplicaHost) -> None:
        self._node = node
        self._current: tuple[PartitionLog, Cleaning] | None = None
        self._uncleanable: list[PartitionLog] = []

    def start(self) -> None:
        """Looks for a log to clean after the first pause."""
        self._schedule_look()

    def _schedule_look(self) -> None:
        backoff = self._node.settings.int("log.cleaner.backoff.ms")
        self._node.waiting.timers.at(self._node.now + max(1, backoff), self._look)

    def _look(self, now: int) -> None:
        """Starts to clean the filthiest log."""
        chosen = self._filthiest(now) if self._node.settings.bool("log.cleaner.enable") else None
        if chosen is None:
            self._schedule_look()
            return
        from ..log.compaction.cleaner import clean  # imported on first use

        self._current = chosen, clean(chosen, now, self._max_keys())
        self._step(now)

    def _max_keys(self) -> int:
        buffer_bytes = self._node.settings.int("log.cleaner.dedupe.buffer.size")
        return max(1, min(int(buffer_bytes * LOAD_FACTOR) // OFFSET_MAP_ENTRY_BYTES, MAX_KEYS))

    def clean_now(self, chosen: PartitionLog) -> Iterator[None]:
        """Cleans a log whether it is due or not, also if nothing in it is dirty: tombstones may
        have expired; and up to the last stable offset, which may be within a segment. The caller
        takes the steps. A scheduled cleaning of this log is dropped. Raises CleaningAborted and
        DiskFailure."""
        from ..log.compaction.cleaner import CleaningAborted, clean  # imported on first use

        if self._current is not None and self._current[0] is chosen:
            self._current[1].close()
        if self._moves(chosen):
            raise CleaningAborted("it moves to another log directory")
        cleaned_to = -1
        while (found := self._cleanable_now(chosen)).end > found.start > cleaned_to or cleaned_to < 0:
            cleaned_to = found.start
            for _ in (steps := clean(chosen, self._node.now, self._max_keys(), whole_segments=False)):
                if self._replica_of(chosen) is None or self._moves(chosen):
                    steps.close()
                    raise CleaningAborted("it has moved, or was deleted")
                yield
        replica = self._replica_of(chosen)
        if replica is not None:
            replica.wake_waiters()

    def _cleanable_now(self, chosen: PartitionLog) -> LogToClean:
        from ..log.compaction.ranges import cleanable

        return cleanable(chosen, self._node.now, whole_segments=False)

    def _filthiest(self, now: int) -> PartitionLog | None:
        from ..log.compaction.ranges import cleanable, is_due

        due = []
        for candidate in self._candidates():
            with suppress(DiskFailure):  # the node reports it
                found = cleanable(candidate, now)
                if is_due(found, candidate.config.min_cleanable_dirty_ratio):
                    due.append((found.overdue, found.ratio, candidate))
        return max(due, key=lambda entry: entry[:2])[2] if due else None

    def _candidates(self) -> list[PartitionLog]:
        self._uncleanable = [log for log in self._uncleanable if self._replica_of(log)]
        logs = [replica.log for replica in all_replicas(self._node)]
        return [
            log
            for log in logs
            if log.config.compacts and len(log.segments) > 1 and log not in self._uncleanable and not self._moves(log)
        ]

    def _moves(self, log: PartitionLog) -> bool:
        """Returns whether the log has a future replica."""
        futures = self._node.logs.future_logs
        return futures is not None and (log.topic, log.index) in futures

    def _replica_of(self, log: PartitionLog) -> PartitionReplica | None:
        """Returns the replica that has this log now; None if there is none."""
        replica = find_replica(self._node, log.topic, log.index)
        return replica if replica is not None and replica.log is log else None

    def _step(self, now: int) -> None:
        from ..log.compaction.cleaner import CleaningAborted

        assert self._current is not None
        cleaned, steps = self._current
        if self._replica_of(cleaned) is None or self._moves(cleaned):
            steps.close()
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
            self._mark_uncleanable(cleaned)
        except Exception:  # a defect stops the cleaning of one log
            log.exception("%r cannot be cleaned", cleaned)
            self._mark_uncleanable(cleaned)
        else:
            self._node.waiting.timers.at(now + STEP_DELAY_MS, self._step)

    def _mark_uncleanable(self, uncleanable: PartitionLog) -> None:
        """Never select this log again, as in Kafka: it would be the filthiest at each look."""
        self._uncleanable.append(uncleanable)
        self._end(uncleanable, None)

    def _end(self, partition: PartitionLog, cleaned: Cleaned | None) -> None:
        self._current = None
        if cleaned is None:
            self._schedule_look()
            return
        log.info("%r is cleaned: %d bytes of %d are left", partition, cleaned.left, cleaned.read)
        replica = self._replica_of(partition)
        if replica is not None:
            replica.wake_waiters()
        self._look(self._node.now)

    def __repr__(self) -> str:
        return f"cleaner, at {self._current[0]!r}" if self._current else "cleaner, waiting"
