"""Periodic tasks of a node: retention, producer expiration, flushes, checkpoints, ISR shrinking.

Rules. The intervals are Kafka's settings, such as `log.retention.check.interval.ms`; each is read
again before each run. When a log start offset moves, waiting requests of the partition are woken,
because their offset may be deleted. Logs in an offline log directory are skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from ..log.files.errors import DiskFailure
from .partition_replicas import all_replicas

if TYPE_CHECKING:
    from ..log.log import PartitionLog
    from ..logs.flushing import FlushOwner
    from .host import ReplicaHost

ScheduledTask = Callable[["ReplicaHost", int], None]
"""A task, called with the time in ms."""


def apply_retention(node: ReplicaHost, now: int) -> None:
    """Deletes expired segments of every replica; a follower does so by itself, as in Kafka."""
    for replica in all_replicas(node):
        with suppress(DiskFailure):
            if replica.log.retain(now):
                replica.wake_waiters()


def expire_producers(node: ReplicaHost, now: int) -> None:
    """Forgets producers that wrote nothing for `producer.id.expiration.ms`."""
    expiration_ms = node.settings.int("producer.id.expiration.ms")
    for replica in all_replicas(node):
        replica.log.producers.expire(now, expiration_ms)


def flush_overdue_logs(node: ReplicaHost, now: int) -> None:
    """Flushes the logs whose records have waited for `flush.ms`."""
    for replica in all_replicas(node):
        if replica.log.flush_is_overdue(now):
            node.flushing.want(replica)


def checkpoint_recovery_points(node: ReplicaHost, now: int) -> None:
    """Checkpoint the recovery points, and flush logs with an unflushed closed segment.

    A recovery after a crash then reads little.
    """
    from ..log.formats import names  # not needed to start

    node.logs.checkpoint(now, (names.RECOVERY_POINT, names.CLEANER_OFFSET))
    _flush_closed_segments(node, node.quorum.durable, node.quorum.durable.log)
    for replica in all_replicas(node):
        _flush_closed_segments(node, replica, replica.log)


def checkpoint_log_start_offsets(node: ReplicaHost, now: int) -> None:
    """Checkpoint the log start offsets."""
    from ..log.formats import names

    node.logs.checkpoint(now, (names.LOG_START,))


def checkpoint_high_watermarks(node: ReplicaHost, now: int) -> None:
    """Checkpoint the high watermarks, which also shows within seconds that a directory is gone."""
    from ..log.formats import names

    node.logs.checkpoint(now, (names.REPLICATION_OFFSET,))


def _flush_closed_segments(node: ReplicaHost, owner: FlushOwner, log: PartitionLog) -> None:
    if log.recovery_point < log.segments[-1].base_offset:
        node.flushing.want(owner)


def remove_deleted_files(node: ReplicaHost, now: int) -> None:
    """Removes files that were deleted `log.segment.delete.delay.ms` ago."""
    node.logs.tick(now, node.settings.int("log.segment.delete.delay.ms"))


def clean_metadata_snapshots(node: ReplicaHost, now: int) -> None:
    """Writes a metadata snapshot if the last one is too old, and deletes expired ones (KIP-630)."""
    if node.controller.uncounted_bytes or "snapshot_generator" in vars(node):
        node.controller.report_committed_bytes()
        node.snapshot_generator.clean(now)


TASKS: tuple[tuple[str, ScheduledTask], ...] = (
    ("log.retention.check.interval.ms", apply_retention),
    ("producer.id.expiration.check.interval.ms", expire_producers),
    ("log.flush.scheduler.interval.ms", flush_overdue_logs),
    ("log.flush.offset.checkpoint.interval.ms", checkpoint_recovery_points),
    ("log.flush.start.offset.checkpoint.interval.ms", checkpoint_log_start_offsets),
    ("replica.high.watermark.checkpoint.interval.ms", checkpoint_high_watermarks),
    ("log.segment.delete.delay.ms", remove_deleted_files),
)


def shrink_isr(node: ReplicaHost, now: int) -> None:
    """Removes followers from the ISR that lag for `replica.lag.time.max.ms`."""
    if node.alter_partition_manager is not None:
        node.alter_partition_manager.maybe_shrink_all()


SNAPSHOT_CHECK_MS = 60_000
"""The interval of the snapshot check; a constant in Kafka."""


def schedule_all(node: ReplicaHost) -> None:
    """Schedules every task at its interval."""
    for name, task in TASKS:
        _schedule(node, partial(_interval_ms, node, name), task)
    _schedule(node, lambda: SNAPSHOT_CHECK_MS, clean_metadata_snapshots)
    if node.alter_partition_manager is not None:
        _schedule(node, lambda: node.settings.int("replica.lag.time.max.ms") // 2, shrink_isr)


def _interval_ms(node: ReplicaHost, name: str) -> int:
    return node.settings.int(name)


def _schedule(node: ReplicaHost, interval_ms: Callable[[], int], task: ScheduledTask) -> None:
    def due(now: int) -> None:
        task(node, now)
        _schedule(node, interval_ms, task)

    node.waiting.timers.at(node.now + max(1, interval_ms()), due)
