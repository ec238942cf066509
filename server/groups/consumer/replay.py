"""Replays the records of consumer groups into a shard (KIP-848).

Each record but a tombstone creates the group if it does not exist yet (`ReplayedGroups`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

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
from kafkadouble.messages.message import Message

from ..modern.member_state import MemberState
from ..modern.modern_group_member import LEAVE_GROUP_MEMBER_EPOCH
from ..modern.replayed_groups import NO_ASSIGNMENT_EPOCH, ReplayedGroups
from . import records
from .consumer_group import ConsumerGroup, ResolvedRegularExpression

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard


GROUPS = ReplayedGroups(ConsumerGroup)


def replay_member(
    shard: GroupCoordinatorShard, key: ConsumerGroupMemberMetadataKey, value: ConsumerGroupMemberMetadataValue | None
) -> None:
    """Set or delete the subscription of a member; a member without one is deleted."""
    if value is None:
        if (present := GROUPS.present(shard, key)) is not None:
            present.remove_member(key.member_id)
        return
    group = GROUPS.group(shard, key)
    group.update_member(
        replace(
            group.member_or_new(key.member_id),
            instance_id=value.instance_id,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            subscribed_topic_names=frozenset(value.subscribed_topic_names),
            subscribed_topic_regex=value.subscribed_topic_regex,
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            server_assignor_name=value.server_assignor,
            classic_member_metadata=records.classic_metadata_of(value),
        )
    )


def replay_epoch(
    shard: GroupCoordinatorShard, key: ConsumerGroupMetadataKey, value: ConsumerGroupMetadataValue | None
) -> None:
    """Set the group epoch, or delete the group."""
    if value is not None:
        group = GROUPS.group(shard, key)
        group.group_epoch, group.metadata_hash = value.epoch, value.metadata_hash
    else:
        GROUPS.delete(shard, key)


def replay_subscription_metadata(
    shard: GroupCoordinatorShard, key: ConsumerGroupPartitionMetadataKey, value: Message | None
) -> None:
    """Remember that a version before 4.1 left this record."""
    group = GROUPS.present(shard, key) if value is None else GROUPS.group(shard, key)
    if group is not None:
        group.has_subscription_metadata_record = value is not None


def replay_target_assignment(
    shard: GroupCoordinatorShard,
    key: ConsumerGroupTargetAssignmentMemberKey,
    value: ConsumerGroupTargetAssignmentMemberValue | None,
) -> None:
    """Set or delete the target assignment of a member."""
    if value is not None:
        GROUPS.group(shard, key).update_target_assignment(key.member_id, records.target_assignment_of(value))
    elif (group := GROUPS.present(shard, key)) is not None:
        group.remove_target_assignment(key.member_id)


def replay_assignment_epoch(
    shard: GroupCoordinatorShard,
    key: ConsumerGroupTargetAssignmentMetadataKey,
    value: ConsumerGroupTargetAssignmentMetadataValue | None,
) -> None:
    """Set the epoch of the target assignment."""
    if value is not None:
        group = GROUPS.group(shard, key)
        group.assignment_epoch, group.assignment_timestamp = value.assignment_epoch, value.assignment_timestamp
    elif (present := GROUPS.present(shard, key)) is not None:
        present.assignment_epoch, present.assignment_timestamp = NO_ASSIGNMENT_EPOCH, 0


def replay_current_assignment(
    shard: GroupCoordinatorShard,
    key: ConsumerGroupCurrentMemberAssignmentKey,
    value: ConsumerGroupCurrentMemberAssignmentValue | None,
) -> None:
    """Set what a member has; a tombstone comes before the one of the member itself."""
    if value is not None:
        group = GROUPS.group(shard, key)
        group.update_member(
            replace(
                group.member_or_new(key.member_id),
                member_epoch=value.member_epoch,
                previous_member_epoch=value.previous_member_epoch,
                state=MemberState.of(value.state),
                assigned_partitions=records.partitions_of(value.assigned_partitions, value.member_epoch),
                partitions_pending_revocation=records.partitions_of(
                    value.partitions_pending_revocation, value.member_epoch
                ),
            )
        )
    elif (present := GROUPS.present(shard, key)) is not None and key.member_id in present.members:
        epoch = LEAVE_GROUP_MEMBER_EPOCH
        present.update_member(
            replace(
                present.members[key.member_id],
                member_epoch=epoch,
                previous_member_epoch=epoch,
                assigned_partitions={},
                partitions_pending_revocation={},
            )
        )


def replay_regular_expression(
    shard: GroupCoordinatorShard,
    key: ConsumerGroupRegularExpressionKey,
    value: ConsumerGroupRegularExpressionValue | None,
) -> None:
    """Set or delete the topics that a regular expression matches."""
    group = GROUPS.present(shard, key) if value is None else GROUPS.group(shard, key)
    if group is None:
        return
    resolved = None
    if value is not None:
        resolved = ResolvedRegularExpression(frozenset(value.topics), value.version, value.timestamp)
    group.set_resolved_regular_expression(key.regular_expression, resolved)


REPLAY: dict[type[Message], Callable[[GroupCoordinatorShard, Any, Any], None]] = {
    ConsumerGroupMemberMetadataKey: replay_member,
    ConsumerGroupMetadataKey: replay_epoch,
    ConsumerGroupPartitionMetadataKey: replay_subscription_metadata,
    ConsumerGroupTargetAssignmentMemberKey: replay_target_assignment,
    ConsumerGroupTargetAssignmentMetadataKey: replay_assignment_epoch,
    ConsumerGroupCurrentMemberAssignmentKey: replay_current_assignment,
    ConsumerGroupRegularExpressionKey: replay_regular_expression,
}
"""Class of a record's key -> the function that applies the record."""
