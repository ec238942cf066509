"""The records of share groups in `__consumer_offsets` (KIP-932), written and read back.

A target assignment is written in Kafka's order, which later assignments depend on. The order of the
other lists has no meaning, so they are sorted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kafkadouble.messages.generated.share_group_current_member_assignment_record import (
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupCurrentMemberAssignmentValue,
)
from kafkadouble.messages.generated.share_group_member_metadata_record import (
    ShareGroupMemberMetadataKey,
    ShareGroupMemberMetadataValue,
)
from kafkadouble.messages.generated.share_group_metadata_record import ShareGroupMetadataKey, ShareGroupMetadataValue
from kafkadouble.messages.generated.share_group_state_partition_metadata_record import (
    ShareGroupStatePartitionMetadataKey,
    ShareGroupStatePartitionMetadataValue,
)
from kafkadouble.messages.generated.share_group_target_assignment_member_record import (
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMemberValue,
)
from kafkadouble.messages.generated.share_group_target_assignment_metadata_record import (
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
)
from kafkadouble.messages.uuid import Uuid

from ...coordinator.coordinator_record import CoordinatorRecord
from ...metadata.image import Image
from ..assignor.assignment import Assignment, assignment_of
from ..modern.tombstones import MemberKeys
from .share_group_member import ShareGroupMember
from .state_partition_metadata import InitMap, InitMapValue, StatePartitionMetadata, name_of

TopicPartitionsInfo = ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo
TopicInfo = ShareGroupStatePartitionMetadataValue.TopicInfo


def member_subscription_record(group_id: str, member: ShareGroupMember) -> CoordinatorRecord:
    value = ShareGroupMemberMetadataValue(
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.subscribed_topic_names),
    )
    return CoordinatorRecord(ShareGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id), value)


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> CoordinatorRecord:
    value = ShareGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash)
    return CoordinatorRecord(ShareGroupMetadataKey(group_id=group_id), value)


def target_assignment_record(group_id: str, member_id: str, assignment: Assignment) -> CoordinatorRecord:
    topic = ShareGroupTargetAssignmentMemberValue.TopicPartition
    value = ShareGroupTargetAssignmentMemberValue(
        topic_partitions=[topic(topic_id=id, partitions=list(each)) for id, each in assignment.items()]
    )
    return CoordinatorRecord(ShareGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id), value)


def target_assignment_metadata_record(group_id: str, epoch: int, timestamp: int) -> CoordinatorRecord:
    value = ShareGroupTargetAssignmentMetadataValue(assignment_epoch=epoch, assignment_timestamp=timestamp)
    return CoordinatorRecord(ShareGroupTargetAssignmentMetadataKey(group_id=group_id), value)


def current_assignment_record(group_id: str, member: ShareGroupMember) -> CoordinatorRecord:
    topic = ShareGroupCurrentMemberAssignmentValue.TopicPartitions
    assigned = member.assigned_partitions
    value = ShareGroupCurrentMemberAssignmentValue(
        member_epoch=member.member_epoch,
        previous_member_epoch=member.previous_member_epoch,
        state=member.state,
        assigned_partitions=[topic(topic_id=id, partitions=sorted(assigned[id])) for id in sorted(assigned)],
    )
    return CoordinatorRecord(ShareGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member.member_id), value)


def partitions_of(topics: Iterable[Any]) -> Assignment:
    """Returns the assignment in a record."""
    return assignment_of((Uuid(topic.topic_id), topic.partitions) for topic in topics)


def state_partition_metadata_record(group_id: str, metadata: StatePartitionMetadata, image: Image) -> CoordinatorRecord:
    """Returns the record; `image` has the names of the topics that are deleted from the group."""
    deleting = {topic_id: name_of(topic_id, image) for topic_id in metadata.deleting}
    return _state_partition_record(group_id, metadata.initializing, metadata.initialized, deleting)


def deleting_record(group_id: str, deleting: InitMap) -> CoordinatorRecord:
    """Returns the record of a group whose whole state is deleted."""
    return _state_partition_record(group_id, {}, {}, {id: value.name for id, value in deleting.items()})


def _state_partition_record(
    group_id: str, initializing: InitMap, initialized: InitMap, deleting: dict[Uuid, str]
) -> CoordinatorRecord:
    value = ShareGroupStatePartitionMetadataValue(
        initializing_topics=_partition_infos(initializing),
        initialized_topics=_partition_infos(initialized),
        deleting_topics=[TopicInfo(topic_id=id, topic_name=deleting[id]) for id in sorted(deleting)],
    )
    return CoordinatorRecord(ShareGroupStatePartitionMetadataKey(group_id=group_id), value)


def _partition_infos(topics: InitMap) -> list[TopicPartitionsInfo]:
    return [
        TopicPartitionsInfo(topic_id=id, topic_name=topics[id].name, partitions=sorted(topics[id].partitions))
        for id in sorted(topics)
    ]


def state_partition_metadata_of(value: ShareGroupStatePartitionMetadataValue, now: int) -> StatePartitionMetadata:
    return StatePartitionMetadata(
        _init_map(value.initializing_topics, now),
        _init_map(value.initialized_topics, now),
        frozenset(Uuid(topic.topic_id) for topic in value.deleting_topics),
    )


def _init_map(topics: Sequence[TopicPartitionsInfo], now: int) -> dict[Uuid, InitMapValue]:
    return {Uuid(topic.topic_id): InitMapValue(topic.topic_name, frozenset(topic.partitions), now) for topic in topics}


MEMBER_KEYS = MemberKeys(
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupMemberMetadataKey,
    ShareGroupTargetAssignmentMetadataKey,
    (ShareGroupStatePartitionMetadataKey, ShareGroupMetadataKey),
)
member_tombstones = MEMBER_KEYS.member_tombstones
group_tombstones = MEMBER_KEYS.group_tombstones
