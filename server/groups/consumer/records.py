"""The records of consumer groups in `__consumer_offsets` (KIP-848), written and read back.

A target assignment is written in Kafka's order, which later assignments depend on. The order of
what a member has now has no meaning, so it is sorted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafkadouble.messages.generated.consumer_group_current_member_assignment_record import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
)
from kafkadouble.messages.generated.consumer_group_member_metadata_record import (
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
)
from kafkadouble.messages.generated.consumer_group_metadata_record import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
)
from kafkadouble.messages.generated.consumer_group_partition_metadata_record import ConsumerGroupPartitionMetadataKey
from kafkadouble.messages.generated.consumer_group_regular_expression_record import (
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
)
from kafkadouble.messages.generated.consumer_group_target_assignment_member_record import (
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
)
from kafkadouble.messages.generated.consumer_group_target_assignment_metadata_record import (
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)
from kafkadouble.messages.uuid import Uuid

from ...coordinator.coordinator_record import CoordinatorRecord
from ..assignor.assignment import Assignment, assignment_of
from ..modern.modern_group import ModernGroup
from ..modern.tombstones import MemberKeys
from .consumer_group_member import ClassicMemberMetadata, ClassicProtocol, ConsumerGroupMember, PartitionEpochs


class ResolvedRegularExpression(NamedTuple):
    """The topics that a regular expression matches in the metadata of `version`.

    `timestamp` is when it was resolved (ms).
    """

    topics: frozenset[str] = frozenset()
    version: int = 0
    timestamp: int = 0


def member_subscription_record(group_id: str, member: ConsumerGroupMember) -> CoordinatorRecord:
    value = ConsumerGroupMemberMetadataValue(
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.subscribed_topic_names),
        subscribed_topic_regex=member.subscribed_topic_regex,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        server_assignor=member.server_assignor_name,
        classic_member_metadata=_classic_metadata(member.classic_member_metadata),
    )
    return CoordinatorRecord(ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id), value)


def _classic_metadata(
    metadata: ClassicMemberMetadata | None,
) -> ConsumerGroupMemberMetadataValue.ClassicMemberMetadata | None:
    if metadata is None:
        return None
    return ConsumerGroupMemberMetadataValue.ClassicMemberMetadata(
        session_timeout_ms=metadata.session_timeout_ms,
        supported_protocols=[
            ConsumerGroupMemberMetadataValue.ClassicProtocol(name=protocol.name, metadata=protocol.metadata)
            for protocol in metadata.supported_protocols
        ],
    )


def classic_metadata_of(value: ConsumerGroupMemberMetadataValue) -> ClassicMemberMetadata | None:
    found = value.classic_member_metadata
    if found is None:
        return None
    protocols = tuple(ClassicProtocol(each.name, bytes(each.metadata)) for each in found.supported_protocols)
    return ClassicMemberMetadata(found.session_timeout_ms, protocols)


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> CoordinatorRecord:
    value = ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash)
    return CoordinatorRecord(ConsumerGroupMetadataKey(group_id=group_id), value)


def target_assignment_record(group_id: str, member_id: str, assignment: Assignment) -> CoordinatorRecord:
    topic = ConsumerGroupTargetAssignmentMemberValue.TopicPartition
    value = ConsumerGroupTargetAssignmentMemberValue(
        topic_partitions=[topic(topic_id=id, partitions=list(each)) for id, each in assignment.items()]
    )
    return CoordinatorRecord(ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id), value)


def target_assignment_of(value: ConsumerGroupTargetAssignmentMemberValue) -> Assignment:
    return assignment_of((Uuid(topic.topic_id), topic.partitions) for topic in value.topic_partitions)


def target_assignment_metadata_record(group_id: str, epoch: int, timestamp: int) -> CoordinatorRecord:
    value = ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=epoch, assignment_timestamp=timestamp)
    return CoordinatorRecord(ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id), value)


def current_assignment_record(group_id: str, member: ConsumerGroupMember) -> CoordinatorRecord:
    value = ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=member.member_epoch,
        previous_member_epoch=member.previous_member_epoch,
        state=member.state,
        assigned_partitions=_topic_partitions(member.assigned_partitions),
        partitions_pending_revocation=_topic_partitions(member.partitions_pending_revocation),
    )
    key = ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member.member_id)
    return CoordinatorRecord(key, value)


def _topic_partitions(partitions: PartitionEpochs) -> list[ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions]:
    topics = []
    for topic_id in sorted(partitions):
        epochs = dict(sorted(partitions[topic_id].items()))
        topics.append(
            ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions(
                topic_id=topic_id, partitions=list(epochs), assignment_epochs=list(epochs.values())
            )
        )
    return topics


def partitions_of(
    topics: Iterable[ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions], member_epoch: int
) -> PartitionEpochs:
    """Returns the partitions of a record; those without an epoch have the one of the member."""
    found: dict[Uuid, dict[int, int]] = {}
    for topic in topics:
        epochs = topic.assignment_epochs
        if epochs is None or len(epochs) != len(topic.partitions):
            epochs = [max(member_epoch, 0)] * len(topic.partitions)
        found[Uuid(topic.topic_id)] = dict(zip(topic.partitions, epochs, strict=True))
    return found


def regular_expression_record(group_id: str, regex: str, resolved: ResolvedRegularExpression) -> CoordinatorRecord:
    value = ConsumerGroupRegularExpressionValue(
        topics=sorted(resolved.topics), version=resolved.version, timestamp=resolved.timestamp
    )
    key = ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=regex)
    return CoordinatorRecord(key, value)


def regular_expression_tombstone(group_id: str, regex: str) -> CoordinatorRecord:
    key = ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=regex)
    return CoordinatorRecord(key, None)


def subscription_metadata_tombstone(group_id: str) -> CoordinatorRecord:
    """Returns the tombstone of a record that only versions before 4.1 write."""
    return CoordinatorRecord(ConsumerGroupPartitionMetadataKey(group_id=group_id), None)


MEMBER_KEYS = MemberKeys(
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupTargetAssignmentMetadataKey,
    (ConsumerGroupMetadataKey,),
)
member_tombstones = MEMBER_KEYS.member_tombstones


def group_tombstones(id: str, member_ids: Iterable[str], regexes: Iterable[str]) -> list[CoordinatorRecord]:
    """Returns the records that delete the group with these members and regular expressions."""
    others = [
        *(regular_expression_tombstone(id, regex) for regex in regexes),
        subscription_metadata_tombstone(id),
    ]
    return MEMBER_KEYS.group_tombstones(id, member_ids, others)


def group_records(group: ModernGroup[ConsumerGroupMember]) -> list[CoordinatorRecord]:
    """Returns all records of a group that was made from a classic one."""
    id, members, targets = group.group_id, group.members, group.target_assignment
    return [
        *(member_subscription_record(id, member) for member in members.values()),
        epoch_record(id, group.group_epoch, group.metadata_hash),
        *(target_assignment_record(id, member_id, targets.get(member_id, {})) for member_id in members),
        target_assignment_metadata_record(id, group.assignment_epoch, group.assignment_timestamp),
        *(current_assignment_record(id, member) for member in members.values()),
    ]
