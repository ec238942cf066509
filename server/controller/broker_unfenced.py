"""Partition changes when a node's own broker registers, is unfenced, or loses a log directory or
files (KIP-631, KIP-858, KIP-966).

A broker that registers again loses its leaderships: each of its partitions gets two new leader
epochs, one without a leader until the broker is unfenced, and one with. So records that an unclean
shutdown lost are not confused with later ones at the same offsets (KIP-101).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..configs.settings import Settings
from ..metadata.image import Image, PartitionImage
from .bootstrap import directories_record, unfence_record

NO_LEADER = -1


def own_broker_registered(image: Image, broker_id: int, settings: Settings, *, clean: bool) -> list[Message]:
    """Partition changes when the broker registers again. `clean`: the last shutdown was a
    controlled one.

    In a cluster with other brokers these lead meanwhile, and the broker's replicas may be stale. In
    a cluster of one broker only the leaders change, so that many partitions do not slow the start
    down.
    """
    if set(image.brokers) <= {broker_id}:
        return [*remove_leader(image, broker_id)]
    from .broker_changes import handle_clean_broker_shutdown, handle_unclean_broker_shutdown

    return (handle_clean_broker_shutdown if clean else handle_unclean_broker_shutdown)(image, broker_id, settings)


def own_broker_unfenced(image: Image, broker_id: int, settings: Settings) -> list[Message]:
    """The broker is unfenced, and leads the partitions that it may lead."""
    if set(image.brokers) <= {broker_id}:
        epoch = image.brokers[broker_id].epoch
        return [unfence_record(broker_id, epoch), *restore_leader(image, broker_id)]
    from .broker_changes import handle_broker_unfenced

    return handle_broker_unfenced(image, broker_id, settings)


def remove_leader(image: Image, broker_id: int) -> list[PartitionChangeRecord]:
    """Removes the leader of the partitions that `broker_id` leads."""
    return [
        PartitionChangeRecord(partition_id=index, topic_id=topic_id, leader=NO_LEADER)
        for topic_id, index, partition in _partitions(image)
        if partition.leader == broker_id
    ]


def own_directory_failed(
    image: Image, broker_id: int, settings: Settings, directory: Uuid, partitions: Iterable[tuple[str, int]]
) -> list[Message]:
    """Records for a failed log directory of the broker that holds these partitions; they also
    remove the directory.
    """
    broker = image.brokers[broker_id]
    if set(image.brokers) <= {broker_id}:
        left = [each for each in broker.log_dirs if each != directory]
        return [
            *remove_leader_in_directory(image, broker_id, partitions, directory),
            directories_record(broker_id, broker.epoch, left),
        ]
    from .assign_replicas_to_dirs import directory_assignment_records
    from .broker_changes import handle_directories_offline
    from .partition_changes import apply_changes

    assigned = directory_assignment_records(image, broker_id, settings, directory, partitions)
    return [*assigned, *handle_directories_offline(apply_changes(image, assigned), broker_id, settings, [directory])]


def own_partition_files_lost(
    image: Image, broker_id: int, settings: Settings, directory: Uuid, partitions: Iterable[tuple[str, int]]
) -> list[PartitionChangeRecord]:
    """Records for partitions whose files on this broker are lost, in a directory that still
    works.
    """
    if set(image.brokers) <= {broker_id}:
        return remove_leader_in_directory(image, broker_id, partitions, directory)
    from .assign_replicas_to_dirs import lost_replica_records

    return lost_replica_records(image, broker_id, settings, partitions)


def remove_leader_in_directory(
    image: Image, broker_id: int, partitions: Iterable[tuple[str, int]], directory: Uuid
) -> list[PartitionChangeRecord]:
    """Removes the leader of those partitions that `broker_id` leads; they are in a failed
    directory.
    """
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


def restore_leader(image: Image, broker_id: int) -> list[PartitionChangeRecord]:
    """Makes `broker_id` the leader of leaderless partitions where it is in sync, or eligible
    (KIP-966).
    """
    return [
        _leader_record(topic_id, index, partition, broker_id)
        for topic_id, index, partition in _partitions(image)
        if partition.leader == NO_LEADER and broker_id in (*partition.isr, *partition.elr)
    ]


def _leader_record(topic_id: Uuid, index: int, partition: PartitionImage, broker_id: int) -> PartitionChangeRecord:
    record = PartitionChangeRecord(partition_id=index, topic_id=topic_id, leader=broker_id)
    if broker_id not in partition.isr:
        record.isr = [broker_id]
        record.eligible_leader_replicas = [replica for replica in partition.elr if replica != broker_id]
        record.last_known_elr = []
    return record


def own_partitions(image: Image, broker_id: int) -> set[tuple[Uuid, int]]:
    """The partitions (topic id, index) of which `broker_id` has a replica."""
    return {(topic_id, index) for topic_id, index, partition in _partitions(image) if broker_id in partition.replicas}


def _partitions(image: Image) -> Iterator[tuple[Uuid, int, PartitionImage]]:
    for topic in sorted(image.topics.values(), key=lambda topic: topic.name):
        for index, partition in topic.in_order():
            yield topic.id, index, partition
