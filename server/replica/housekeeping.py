"""What a node does unasked, now and then: drop what retention no longer keeps, and forget producers that have long been silent.

Rules. Intervals are Kafka's (`log.retention.check.interval.ms`, `producer.id.expiration.check.interval.ms`), read anew each time. Who waits
at a partition whose start moved is woken, since the offset that he waits for may be gone. Logs whose directory has failed are left alone.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from ..log.files.errors import DiskFailure
from .replicas import all_replicas

if TYPE_CHECKING:
    from ..log.log import PartitionLog
    from ..logs.flushing import FlushOwner
    from ..node import Node

Chore = Callable[["Node", int], None]
"""Something done at `now`."""


def retain(node: Node, now: int) -> None:
    """Delete the segments that no setting keeps, of every replica: a follower does so by itself, as in Kafka."""
    for replica in all_replicas(node):
        with suppress(DiskFailure):
            if replica.log.retain(now):
                replica.wake_waiters()


def forget_producers(node: Node, now: int) -> None:
    """Forget the producers that wrote nothing for `producer.id.expiration.ms`."""
    silence = node.settings.int("producer.id.expiration.ms")
    for replica in all_replicas(node):
        replica.log.producers.expire(now, silence)


def flush(node: Node, now: int) -> None:
    """Flush the logs whose records have waited for `flush.ms`."""
    for replica in all_replicas(node):
        if replica.log.flush_is_overdue(now):
            node.flushing.want(replica)


def checkpoint(node: Node, now: int) -> None:
    """Write down how far the logs are safe, and have those flushed of which a closed segment is not: a recovery then reads little."""
    node.logs.checkpoint(now)
    _flush_closed(node, node.quorum.durable, node.quorum.durable.log)
    for replica in all_replicas(node):
        _flush_closed(node, replica, replica.log)


def _flush_closed(node: Node, owner: FlushOwner, log: PartitionLog) -> None:
    if log.recovery_point < log.segments[-1].base_offset:
        node.flushing.want(owner)


def remove_deleted(node: Node, now: int) -> None:
    """Free the room of files that were deleted a while ago."""
    node.logs.tick(now, node.settings.int("log.segment.delete.delay.ms"))


def keep_snapshots(node: Node, now: int) -> None:
    """Write a snapshot of the metadata if the last is too old, and delete those that are no longer kept (KIP-630)."""
    if node.controller.uncounted_bytes or "snapshot_generator" in vars(node):
        node.controller.report_committed_bytes()
        node.snapshot_generator.clean(now)


CHORES: tuple[tuple[str, Chore], ...] = (
    ("log.retention.check.interval.ms", retain),
    ("producer.id.expiration.check.interval.ms", forget_producers),
    ("log.flush.scheduler.interval.ms", flush),
    ("log.flush.offset.checkpoint.interval.ms", checkpoint),
    ("log.segment.delete.delay.ms", remove_deleted),
)


def look_who_keeps_up(node: Node, now: int) -> None:
    """Followers that have not kept up for `replica.lag.time.max.ms` fall out of sync."""
    if node.alter_partition_manager is not None:
        node.alter_partition_manager.maybe_shrink_all()


SNAPSHOTS_EVERY = 60_000
"""Time (ms) between two looks at the snapshots, as in Kafka."""


def begin(node: Node) -> None:
    """Have every chore done again and again, each at its interval."""
    for interval, chore in CHORES:
        _schedule(node, partial(_interval, node, interval), chore)
    _schedule(node, lambda: SNAPSHOTS_EVERY, keep_snapshots)
    if node.alter_partition_manager is not None:
        _schedule(node, lambda: node.settings.int("replica.lag.time.max.ms") // 2, look_who_keeps_up)


def _interval(node: Node, name: str) -> int:
    return node.settings.int(name)


def _schedule(node: Node, interval: Callable[[], int], chore: Chore) -> None:
    def due(now: int) -> None:
        chore(node, now)
        _schedule(node, interval, chore)

    node.waiting.timers.at(node.now + max(1, interval()), due)
