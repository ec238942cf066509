"""The methods of KafkaDouble about the logs of partitions: segments, compaction, retention and
flushes. They act on every replica of a partition, on each broker that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.common.marking import verb
from kafkadouble.topics import log_upkeep

if TYPE_CHECKING:
    from kafkadouble.host.host import Host


@verb
def roll(host: Host, topic: str, partition: int) -> int:
    """Closes the active segment of a partition's log and begins a new one, as after
    `segment.ms`; returns its base offset. An empty segment stays.

    Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION).
    """
    return host.call(log_upkeep.roll, host.serving().broker, topic, partition)


@verb
def retain(host: Host, topic: str, partition: int | None = None) -> dict[int, int]:
    """Applies `retention.ms` and `retention.bytes` now, and returns the log start offset of
    each partition. As in Kafka, whole segments are deleted.

    Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION).
    """
    return host.call(log_upkeep.retain, host.serving().broker, topic, partition)


@verb
def compact(host: Host, topic: str, partition: int | None = None) -> None:
    """Begins a new segment and compacts all segments before it, as the log cleaner does when it
    is due. Segments that are compacted already are compacted again, so that tombstones that
    have expired are removed. `min.compaction.lag.ms` and `delete.retention.ms` apply, and each
    replica is compacted up to its own high watermark.

    Raises UsageError for a topic without `cleanup.policy=compact`, and
    KafkaError(UNKNOWN_TOPIC_OR_PARTITION).
    """
    running = host.serving()
    running.thread.run(log_upkeep.compact(running.broker, topic, partition))


@verb
def flush(host: Host, topic: str, partition: int) -> int:
    """Flushes a partition's log to the disk, as after `flush.ms`; returns the offset up to
    which the leader's log is flushed. In memory, everything always is.

    Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION, KAFKA_STORAGE_ERROR if a disk fails.
    """
    running = host.serving()
    return running.thread.run(log_upkeep.flush(running.broker, topic, partition))
