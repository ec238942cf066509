"""A partition as a value: its leader, replicas, offsets and leader epochs. Call every function on
the loop's thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.common.errors import KafkaError
from kafkadouble.server.metadata.image import PartitionImage
from kafkadouble.server.replica.replication.partition import Partition

from . import leadership, placement

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import ClusterApi

TopicPartition = tuple[str, int]

STEP = 256
"""The partitions that are looked at in one step of the loop."""


class PartitionState(NamedTuple):
    """A partition at one moment.

    `leader`, `replicas` and `isr` are ids of brokers; `leader` is None if there is none. The rest
    is None if no broker that answers leads the partition: `start_offset` of the log, `end_offset`
    (where the leader appends next), `high_watermark` (what consumers read up to),
    `last_stable_offset` (with read_committed), and `epochs`, the leader epochs in the log, each
    with its start offset, oldest first.
    """

    topic: str
    partition: int
    leader: int | None
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    start_offset: int | None = None
    end_offset: int | None = None
    high_watermark: int | None = None
    last_stable_offset: int | None = None
    epochs: dict[int, int] | None = None


def partition_state(broker: ClusterApi, topic: str, index: int) -> PartitionState:
    """Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION) when there is no such partition."""
    _, image = placement.find(broker, topic, index)
    return state_of(broker, topic, index, image)


def state_of(broker: ClusterApi, topic: str, index: int, image: PartitionImage) -> PartitionState:
    """The state of a partition with this image. It does not settle the broker first: the caller
    does that once for many partitions."""
    leader = None if image.leader < 0 else image.leader
    state = PartitionState(topic, index, leader, image.leader_epoch, image.replicas, tuple(sorted(image.isr)))
    led = _led(broker, topic, index)
    if led is None:
        return state
    log = led.log
    return state._replace(
        start_offset=log.log_start_offset,
        end_offset=log.log_end_offset,
        high_watermark=log.high_watermark,
        last_stable_offset=log.last_stable_offset,
        epochs={entry.epoch: entry.offset for entry in log.epochs.entries},
    )


def offsets_of_log(broker: ClusterApi, topic: str, index: int) -> tuple[int, int, int, int, int] | None:
    """The offsets in a state, and the number of its epochs; None without a leader that answers."""
    led = _led(broker, topic, index)
    if led is None:
        return None
    log = led.log
    count = len(log.epochs.entries)
    return log.log_start_offset, log.log_end_offset, log.high_watermark, log.last_stable_offset, count


def _led(broker: ClusterApi, topic: str, index: int) -> Partition | None:
    """The partition at its leader; None if there is no such partition, or no leader."""
    try:
        return leadership.find(broker, topic, index)[1]
    except KafkaError:
        return None


def log_bounds(broker: ClusterApi, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, tuple[int, int]]:
    """The offsets from which and up to which consumers read, for each partition that has a
    leader."""
    found = {partition: _led(broker, *partition) for partition in partitions}
    return {each: (led.log.log_start_offset, led.log.high_watermark) for each, led in found.items() if led is not None}


def log_bounds_in_steps(
    call: Callable[..., dict[TopicPartition, tuple[int, int]]],
    broker: ClusterApi,
    partitions: Sequence[TopicPartition],
) -> dict[TopicPartition, tuple[int, int]]:
    """The same, on another thread: `call` runs each step on the loop's, and clients are served
    between two."""
    found: dict[TopicPartition, tuple[int, int]] = {}
    for at in range(0, len(partitions), STEP):
        found |= call(log_bounds, broker, partitions[at : at + STEP])
    return found
