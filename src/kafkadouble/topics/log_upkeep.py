"""The upkeep of logs on demand: roll, compact, apply retention, flush. Call everything here on the
loop's thread.

Rules. A change of a log is made on each replica of the partition whose broker runs, as in Kafka. A
log whose directory has failed is KAFKA_STORAGE_ERROR.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kafkadouble.common.errors import KafkaError, UsageError
from kafkadouble.messages import error_codes
from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.replica.partition_replicas import PartitionReplica, find_replica

from . import leadership
from .placement import partitions_of

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import BrokerApi, ClusterApi

FLUSH_LOOK_S = 0.001
"""The interval in which a flush on another thread is looked at."""

ATTEMPTS = 5
"""How often a log is cleaned again that was truncated meanwhile."""


def _replicas(broker: ClusterApi, topic: str, index: int) -> list[tuple[BrokerApi, PartitionReplica]]:
    """The brokers that run and have a replica, the leader first. KafkaError for an unknown
    partition, and for one that no broker leads."""
    leader, led = leadership.find(broker, topic, index)
    followed = [(member, find_replica(member.node, topic, index)) for member in broker.members if member is not leader]
    return [(leader, led), *((each, replica) for each, replica in followed if replica is not None)]


@contextmanager
def _step(broker: ClusterApi, member: BrokerApi) -> Iterator[None]:
    """Sets the time of a broker before a step; afterwards waiting requests go on."""
    member.node.advance(member.clock.now())
    try:
        yield
    except DiskFailure as failure:
        raise KafkaError(error_codes.KAFKA_STORAGE_ERROR, str(failure)) from None
    finally:
        member.settle()
        broker.settle()


def roll(broker: ClusterApi, topic: str, index: int) -> int:
    """Begins a new segment; returns its base offset at the leader."""
    bases = []
    for member, replica in _replicas(broker, topic, index):
        with _step(broker, member):
            bases.append(replica.log.roll())
    return bases[0]


def retain(broker: ClusterApi, topic: str, partition: int | None) -> dict[int, int]:
    """Deletes what retention does not keep; returns the log start offsets."""
    starts = {}
    for index in partitions_of(broker, topic, partition):
        replicas = _replicas(broker, topic, index)
        for member, replica in replicas:
            with _step(broker, member):
                if replica.log.retain(member.node.now):
                    replica.wake_waiters()
        starts[index] = replicas[0][1].log.log_start_offset
    return starts


async def compact(broker: ClusterApi, topic: str, partition: int | None) -> None:
    """Rolls and cleans every replica. UsageError for a topic that is not compacted."""
    for index in partitions_of(broker, topic, partition):
        replicas = _replicas(broker, topic, index)
        if not replicas[0][1].log.config.compacts:
            raise UsageError(f"topic is one with cleanup.policy=compact, not {topic!r}")
        for member, replica in replicas:
            with _step(broker, member):
                replica.log.roll()
            await _clean(broker, member, replica)


async def _clean(broker: ClusterApi, member: BrokerApi, replica: PartitionReplica) -> None:
    # While a log is compacted.
    from kafkadouble.server.log.compaction.cleaner import CleaningAborted

    for attempt in range(1, ATTEMPTS + 1):
        try:
            with _step(broker, member):
                for _ in member.node.cleaner.clean_now(replica.log):
                    await asyncio.sleep(0)
            return
        except CleaningAborted as why:
            if attempt == ATTEMPTS:
                raise KafkaError(error_codes.UNKNOWN_SERVER_ERROR, f"the log changes too often: {why}") from None


async def flush(broker: ClusterApi, topic: str, index: int) -> int:
    """Flushes every replica; returns the offset up to which the leader's log is flushed."""
    points = []
    for member, replica in _replicas(broker, topic, index):
        log, end = replica.log, replica.log.log_end_offset
        with _step(broker, member):
            member.node.flushing.want(replica)
        while member.node.flushing.busy:
            await asyncio.sleep(FLUSH_LOOK_S)
        if log.recovery_point < end:
            raise KafkaError(
                error_codes.KAFKA_STORAGE_ERROR, f"broker {member.node.id} could not flush {topic}-{index}"
            )
        points.append(min(log.recovery_point, log.log_end_offset))
    return points[0]
