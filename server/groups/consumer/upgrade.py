"""Converts a classic group with members into a consumer group (KIP-848).

The first member that joins with the consumer protocol converts a classic group of consumers. Its
members stay, with their assignments; they go on with the classic protocol, and join again when they
must revoke something.

Rules. Both sides are written as one batch: the tombstones of one, the records of the other. If a
client cannot convert a group, the error is GROUP_ID_NOT_FOUND, with the reason in the message.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import WireError

from ...requests.request import Refusal
from ..assignor.assignment import PartitionSet
from ..classic.group import ClassicGroup
from ..classic.member import ClassicGroupMember
from ..consumer_protocol import EMPTY_USER_DATA, assignment_of, partitions_by_topic_id, subscription_of
from . import records, timers
from .assignment_steps import GroupChange
from .consumer_group import ConsumerGroup
from .consumer_group_member import ClassicMemberMetadata, ClassicProtocol, ConsumerGroupMember
from .migration_policy import ConsumerGroupMigrationPolicy

MALFORMED = "the embedded consumer protocol is malformed"
CUSTOM_ASSIGNOR = (
    "an unsupported custom assignor is in use. Please refer to the documentation or switch to a default assignor"
    " before re-attempting the upgrade"
)

log = ClientLog("kafkadouble.server.groups")


def upgrade(classic: ClassicGroup) -> GroupChange:
    """Returns a change that makes a consumer group of a classic group.

    Requests of members that wait are answered, even if the change is not written: their clients
    join again. Raises Refusal: GROUP_ID_NOT_FOUND, UNKNOWN_SERVER_ERROR.
    """
    _refuse_upgrade_of(classic)
    for member in classic.members.values():
        member.fail(error_codes.REBALANCE_IN_PROGRESS, join_member_id=member.member_id)
    try:
        group = _consumer_group(classic)
    except WireError as problem:
        log.warning("%r cannot be upgraded: %s", classic, problem)
        raise _no_upgrade(classic, f"to consumer group because {MALFORMED}") from problem
    change = GroupChange(group, [*classic.tombstones(), *records.group_records(group)])
    change.after_write(partial(_complete_upgrade, classic, group))
    return change


def _complete_upgrade(classic: ClassicGroup, group: ConsumerGroup) -> None:
    classic.retire()
    for member in group.members.values():
        timers.schedule_session(group, member)
    log.info("%r is converted to a consumer group", classic)


def _refuse_upgrade_of(classic: ClassicGroup) -> None:
    settings = classic.shard.node.settings
    if not ConsumerGroupMigrationPolicy.of(settings).allows_upgrade:
        raise _no_upgrade(classic, "to consumer group because online upgrade is disabled")
    if not classic.uses_consumer_protocol:
        raise _no_upgrade(classic, "to consumer group because the group does not use the consumer embedded protocol")
    if len(classic.members) > settings.int("group.consumer.max.size"):
        reason = "to consumer group because the group size exceeds the consumer group maximum size"
        raise _no_upgrade(classic, reason)


def _no_upgrade(classic: ClassicGroup, reason: str) -> Refusal:
    message = f"Cannot upgrade classic group {classic.group_id} {reason}."
    log.info("%s", message)
    return Refusal(error_codes.GROUP_ID_NOT_FOUND, message)


def _consumer_group(classic: ClassicGroup) -> ConsumerGroup:
    """Raises WireError for metadata that cannot be read, Refusal for that of a custom assignor, and
    for what Kafka fails on: a first generation that has no protocol yet, partitions of two owners.
    """
    if classic.protocol_name is None:
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    group = ConsumerGroup(classic.shard, classic.group_id)
    group.group_epoch = group.assignment_epoch = classic.generation_id
    for member in classic.members.values():
        partitions = _assigned_partitions(classic, member)
        _refuse_second_owner(group, partitions)
        target = {topic_id: PartitionSet(each) for topic_id, each in partitions.items()}
        group.update_target_assignment(member.member_id, target)
        group.update_member(_consumer_member(classic, member, partitions))
    group.metadata_hash = group.compute_metadata_hash(group.subscribed_topic_names)
    return group


def _assigned_partitions(classic: ClassicGroup, member: ClassicGroupMember) -> dict[Uuid, list[int]]:
    if not member.assignment:
        return {}
    assignment = assignment_of(member.assignment)
    if assignment.user_data not in EMPTY_USER_DATA:
        raise _no_upgrade(classic, f"to consumer group because {CUSTOM_ASSIGNOR}")
    return partitions_by_topic_id(assignment, classic.shard.node.image)


def _refuse_second_owner(group: ConsumerGroup, partitions: Mapping[Uuid, list[int]]) -> None:
    for topic_id, indexes in partitions.items():
        owned = group.current_partition_epochs.get(topic_id, {}).keys()
        if not owned.isdisjoint(indexes):
            log.warning("%r has two members with a partition of topic %s", group, topic_id)
            raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)


def _consumer_member(
    classic: ClassicGroup, member: ClassicGroupMember, partitions: dict[Uuid, list[int]]
) -> ConsumerGroupMember:
    epoch = classic.generation_id
    offered = member.supported_protocols
    assert classic.protocol_name is not None
    subscription = subscription_of(offered[classic.protocol_name])
    return ConsumerGroupMember(
        member_id=member.member_id,
        member_epoch=epoch,
        previous_member_epoch=epoch,
        instance_id=member.group_instance_id,
        rack_id=subscription.rack_id or None,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=frozenset(subscription.topics),
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        assigned_partitions={topic_id: dict.fromkeys(each, epoch) for topic_id, each in partitions.items()},
        classic_member_metadata=ClassicMemberMetadata(
            member.session_timeout_ms, tuple(ClassicProtocol(*each) for each in offered.items())
        ),
    )
