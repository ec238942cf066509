"""AssignReplicasToDirs: a broker reports the log directories of its replicas (KIP-858).

A replica in an offline directory causes two changes of its partition: its directory, and an ISR and
leader without it.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
)
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.messages.uuid import Uuid

from ..configs.settings import Settings
from ..metadata.image import Image
from ..metadata.log_dir_ids import LOST, is_online
from ..metadata.record_versions import DIRECTORIES, level_of
from ..requests.request import Refusal
from .broker_changes import isr_updates_without
from .broker_epochs import checked_broker
from .controller_result import ControllerResult
from .partition_change_builder import PartitionTarget
from .partition_changes import ImagePartition, PartitionChanges, apply_changes

Result = AssignReplicasToDirsResponse.DirectoryData
TopicResult = AssignReplicasToDirsResponse.TopicData
PartitionResult = AssignReplicasToDirsResponse.PartitionData


def assign_replicas_to_dirs(
    image: Image, settings: Settings, request: AssignReplicasToDirsRequest
) -> ControllerResult[Result]:
    """Handles AssignReplicasToDirs. Refusal(UNSUPPORTED_VERSION, STALE_BROKER_EPOCH) for the whole
    request.
    """
    if level_of(image) < DIRECTORIES:
        raise Refusal(error_codes.UNSUPPORTED_VERSION, "Directory assignment is not supported yet.")
    broker = checked_broker(image, request.broker_id, request.broker_epoch)
    changes = PartitionChanges(image, settings)
    records: list[PartitionChangeRecord] = []
    offline: dict[tuple[Uuid, int], None] = {}
    results = []
    for directory in request.directories:
        topics = []
        for topic in directory.topics:
            answers = []
            for requested in topic.partitions:
                try:
                    assigned_partition = _checked_partition(image, broker.id, topic.topic_id, requested.partition_index)
                except Refusal as refusal:
                    answers.append(_result(requested.partition_index, refusal.code))
                else:
                    records += changes.change(
                        assigned_partition, PartitionTarget(directories={broker.id: directory.id})
                    )
                    if not is_online(directory.id, broker.log_dirs):
                        offline[topic.topic_id, assigned_partition.number] = None
                    answers.append(_result(requested.partition_index))
            topics.append(TopicResult(topic_id=topic.topic_id, partitions=answers))
        results.append(Result(id=directory.id, topics=topics))
    assigned = apply_changes(image, records)
    offline_partitions = [ImagePartition(assigned.topics[topic_id], index) for topic_id, index in offline]
    return ControllerResult(
        [*records, *isr_updates_without(assigned, broker.id, settings, offline_partitions)], results
    )


def directory_assignment_records(
    image: Image, broker_id: int, settings: Settings, directory: Uuid, partitions: Iterable[tuple[str, int]]
) -> list[PartitionChangeRecord]:
    """Records that assign the broker's replicas of these partitions to `directory`, except for
    replicas that are already assigned to it.
    """
    changes, records = PartitionChanges(image, settings), []
    for name, index in partitions:
        topic = image.topic_named(name)
        partition = None if topic is None else topic.partitions.get(index)
        if topic is not None and partition is not None and broker_id in partition.replicas:
            records += changes.change(ImagePartition(topic, index), PartitionTarget(directories={broker_id: directory}))
    return records


def lost_replica_records(
    image: Image, broker_id: int, settings: Settings, partitions: Iterable[tuple[str, int]]
) -> list[PartitionChangeRecord]:
    """Records for replicas of the broker whose files are lost: the partitions continue without
    them.
    """
    partitions = list(partitions)
    assigned = directory_assignment_records(image, broker_id, settings, LOST, partitions)
    known = apply_changes(image, assigned)
    topics = [(known.topic_named(name), index) for name, index in partitions]
    offline_partitions = [
        ImagePartition(topic, index) for topic, index in topics if topic is not None and index in topic.partitions
    ]
    return [*assigned, *isr_updates_without(known, broker_id, settings, offline_partitions)]


def _checked_partition(image: Image, broker_id: int, topic_id: Uuid, index: int) -> ImagePartition:
    topic = image.topic(topic_id)
    if topic is None:
        raise Refusal(error_codes.UNKNOWN_TOPIC_ID)
    if index not in topic.partitions:
        raise Refusal(error_codes.UNKNOWN_TOPIC_OR_PARTITION)
    if broker_id not in topic.partitions[index].replicas:
        raise Refusal(error_codes.NOT_LEADER_OR_FOLLOWER)
    return ImagePartition(topic, index)


def _result(index: int, code: int = error_codes.NONE) -> PartitionResult:
    return PartitionResult(partition_index=index, error_code=code)
