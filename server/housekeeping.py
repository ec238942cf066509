"""What a node does unasked, now and then: drop what retention no longer keeps, and forget producers that have long been silent.

Rules. Intervals are Kafka's (`log.retention.check.interval.ms`, `producer.id.expiration.check.interval.ms`), read anew each time. Who waits
at a partition whose start moved is woken, since the offset that he waits for may be gone. Logs whose directory has failed are left alone.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from .log.files.errors import DiskFailure

if TYPE_CHECKING:
    from .node import Node

Chore = Callable[["Node", int], None]
"""Something done at `now`."""


def retain(node: Node, now: int) -> None:
    """Delete the segments that no setting keeps."""
    for partition in node.partitions:
        with suppress(DiskFailure):
            if partition.log.retain(now):
                partition.waiters.wake_all()


def forget_producers(node: Node, now: int) -> None:
    """Forget the producers that wrote nothing for `producer.id.expiration.ms`."""
    silence = node.settings.int("producer.id.expiration.ms")
    for partition in node.partitions:
        partition.log.producers.expire(now, silence)


def flush(node: Node, now: int) -> None:
    """Flush the logs whose records have waited for `flush.ms`."""
    for partition in node.partitions:
        if partition.log.flush_is_overdue(now):
            node.flushing.want(partition)


def checkpoint(node: Node, now: int) -> None:
    """Write down how far the logs are safe, and have those flushed of which a closed segment is not: a recovery then reads little."""
    node.logs.checkpoint(now)
    for owner in (node.controller, *node.partitions):
        if owner.log.recovery_point < owner.log.segments[-1].base_offset:
            node.flushing.want(owner)


def remove_deleted(node: Node, now: int) -> None:
    """Free the room of files that were deleted a while ago."""
    node.logs.tick(now, node.settings.int("log.segment.delete.delay.ms"))


CHORES: tuple[tuple[str, Chore], ...] = (
    ("log.retention.check.interval.ms", retain),
    ("producer.id.expiration.check.interval.ms", forget_producers),
    ("log.flush.scheduler.interval.ms", flush),
    ("log.flush.offset.checkpoint.interval.ms", checkpoint),
    ("log.segment.delete.delay.ms", remove_deleted),
)


def begin(node: Node) -> None:
    """Have every chore done again and again, each at its interval."""
    for interval, chore in CHORES:
        _schedule(node, interval, chore)


def _schedule(node: Node, interval: str, chore: Chore) -> None:
    def due(now: int) -> None:
        chore(node, now)
        _schedule(node, interval, chore)

    node.waiting.timers.at(node.now + max(1, node.settings.int(interval)), due)
