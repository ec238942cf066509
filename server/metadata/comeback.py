"""What the return of a broker changes, and the loss of one of its log directories: the partitions that it led have no leader.

A broker that registers anew lost its place whatever it was before (KIP-631, KIP-966): each of its partitions gets two new leader epochs, one
without a leader until it is unfenced, and one with. So offsets that an unclean stop made free, and that are given again, are told apart from
those of before (KIP-101).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.messages.uuid import Uuid

from .image import Image, PartitionImage

NO_LEADER = -1


def leaderless(image: Image, broker_id: int) -> list[PartitionChangeRecord]:
    """The partitions that `broker_id` leads lose their leader."""
    return [
        PartitionChangeRecord(partition_id=index, topic_id=topic_id, leader=NO_LEADER)
        for topic_id, index, partition in _partitions(image)
        if partition.leader == broker_id
    ]


def left_alone(
    image: Image, broker_id: int, partitions: Iterable[tuple[str, int]], directory: Uuid
) -> list[PartitionChangeRecord]:
    """Of these the ones that `broker_id` led lose their leader: they lie in a directory that has failed."""
    changes = []
    for name, index in partitions:
        topic = image.topic_named(name)
        found = None if topic is None else topic.partitions.get(index)
        if topic is not None and found is not None and found.leader == broker_id:
            where = zip(found.replicas, found.directories, strict=False)
            directories = [directory if replica == broker_id else each for replica, each in where]
            changes.append(
                PartitionChangeRecord(
                    partition_id=index, topic_id=topic.id, leader=NO_LEADER, directories=directories or None
                )
            )
    return changes


def led_again(image: Image, broker_id: int) -> list[PartitionChangeRecord]:
    """The partitions without a leader that `broker_id` may lead get it."""
    return [
        PartitionChangeRecord(partition_id=index, topic_id=topic_id, leader=broker_id)
        for topic_id, index, partition in _partitions(image)
        if partition.leader == NO_LEADER and broker_id in partition.isr
    ]


def own_partitions(image: Image, broker_id: int) -> set[tuple[Uuid, int]]:
    """The partitions of which `broker_id` has a replica: topic id and index."""
    return {(topic_id, index) for topic_id, index, partition in _partitions(image) if broker_id in partition.replicas}


def _partitions(image: Image) -> Iterator[tuple[Uuid, int, PartitionImage]]:
    for topic in sorted(image.topics.values(), key=lambda topic: topic.name):
        for index, partition in topic.in_order():
            yield topic.id, index, partition
