"""Replays the records of consumer groups into a shard (KIP-848).

Each record but a tombstone creates the group if it does not exist yet (`ReplayedGroups`).
"""

from __future__ import annotations

from collections.abc import Callable
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
)
from kafkadouble.messages.generated.consumer_group_partition_metadata_record import ConsumerGroupPartitionMetadataKey
from kafkadouble.messages.generated.consumer_group_regular_expression_record import (
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
)
from kafkadouble.messages.generated.consumer_group_target_assignment_member_record import (
    ConsumerGroupTargetAssignmentMemberKey,
)
from kafkadouble.messages.generated.consumer_group_target_assignment_metadata_record import (
    ConsumerGroupTargetAssignmentMetadataKey,
)
from kafkadouble.messages.message import Message

from ..modern.replay import ModernReplay
from ..modern.replayed_groups import ReplayedGroups
from . import records
from .consumer_group import ConsumerGroup
from .records import ResolvedRegularExpression

if TYPE_CHECKING:
    from ..group_coordinator_shard import GroupCoordinatorShard


GROUPS = ReplayedGroups(ConsumerGroup)


def _metadata_of(value: ConsumerGroupMemberMetadataValue) -> dict[str, Any]:
    return {
        "instance_id": value.instance_id,
        "rack_id": value.rack_id,
        "client_id": value.client_id,
        "client_host": value.client_host,
        "subscribed_topic_names": frozenset(value.subscribed_topic_names),
        "subscribed_topic_regex": value.subscribed_topic_regex,
        "rebalance_timeout_ms": value.rebalance_timeout_ms,
        "server_assignor_name": value.server_assignor,
        "classic_member_metadata": records.classic_metadata_of(value),
    }


def _partitions_of(value: ConsumerGroupCurrentMemberAssignmentValue) -> dict[str, Any]:
    epoch = value.member_epoch
    return {
        "assigned_partitions": records.partitions_of(value.assigned_partitions, epoch),
        "partitions_pending_revocation": records.partitions_of(value.partitions_pending_revocation, epoch),
    }


COMMON = ModernReplay(
    GROUPS,
    metadata_of=_metadata_of,
    target_assignment_of=records.target_assignment_of,
    partitions_of=_partitions_of,
    unassigned={"assigned_partitions": {}, "partitions_pending_revocation": {}},
)


def replay_subscription_metadata(
    shard: GroupCoordinatorShard, key: ConsumerGroupPartitionMetadataKey, value: Message | None
) -> None:
    """Remembers that a version before 4.1 left this record."""
    group = GROUPS.present(shard, key) if value is None else GROUPS.group(shard, key)
    if group is not None:
        group.has_subscription_metadata_record = value is not None


def replay_regular_expression(
    shard: GroupCoordinatorShard,
    key: ConsumerGroupRegularExpressionKey,
    value: ConsumerGroupRegularExpressionValue | None,
) -> None:
    """Sets or deletes the topics that a regular expression matches."""
    group = GROUPS.present(shard, key) if value is None else GROUPS.group(shard, key)
    if group is None:
        return
    resolved = None
    if value is not None:
        resolved = ResolvedRegularExpression(frozenset(value.topics), value.version, value.timestamp)
    group.set_resolved_regular_expression(key.regular_expression, resolved)


REPLAY: dict[type[Message], Callable[[GroupCoordinatorShard, Any, Any], None]] = {
    ConsumerGroupMemberMetadataKey: COMMON.replay_member,
    ConsumerGroupMetadataKey: COMMON.replay_epoch,
    ConsumerGroupPartitionMetadataKey: replay_subscription_metadata,
    ConsumerGroupTargetAssignmentMemberKey: COMMON.replay_target_assignment,
    ConsumerGroupTargetAssignmentMetadataKey: COMMON.replay_assignment_epoch,
    ConsumerGroupCurrentMemberAssignmentKey: COMMON.replay_current_assignment,
    ConsumerGroupRegularExpressionKey: replay_regular_expression,
}
"""Class of a record's key -> the function that applies the record."""
