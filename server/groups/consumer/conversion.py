"""Converts a group with members between the classic and the consumer protocol (KIP-848).

Upgrade: the first member that joins with the consumer protocol converts a classic group of
consumers. Its members stay, with their assignments; they go on with the classic protocol, and join
again when they must revoke something.

Downgrade: when the last member that uses the consumer protocol has left, or was replaced by a
classic static member, the others form a classic group, which rebalances.

Rules. Both sides are written as one batch: the tombstones of one, the records of the other. What a
client cannot convert is GROUP_ID_NOT_FOUND, with the reason in the message.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import WireError

from ...coordinator.coordinator_record import CoordinatorRecord
from ...requests.request import Refusal
from ..assignor.assignment import EMPTY_ASSIGNMENT, Assignment, PartitionSet
from ..classic import protocols, rebalance
from ..classic import records as classic_records
from ..classic.group import CONSUMER_PROTOCOL_TYPE, ClassicGroup
from ..classic.member import ClassicGroupMember
from ..classic.state import ClassicGroupState
from ..consumer_protocol import (
    EMPTY_USER_DATA,
    assignment_of,
    encode_assignment,
    partitions_by_topic_id,
    subscription_of,
    version_of,
)
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
    """Return a change that makes a consumer group of a classic group.

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
    change = GroupChange(group, [*classic.tombstones(), *records.group_records(group, group.members)])
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


def can_downgrade_without(group: ConsumerGroup, leaving: Collection[ConsumerGroupMember]) -> bool:
    """Return whether the group becomes a classic one when these members leave."""
    left = len(group.members) - len(leaving)
    return left > 0 and group.all_use_classic_protocol_except(leaving) and _may_downgrade(group, left)


def can_downgrade_with(group: ConsumerGroup, replaced: ConsumerGroupMember) -> bool:
    """Return whether the group becomes a classic one when a classic member replaces this one."""
    if replaced.uses_classic_protocol:
        return False
    return group.all_use_classic_protocol_except([replaced]) and _may_downgrade(group, len(group.members))


def _may_downgrade(group: ConsumerGroup, members: int) -> bool:
    settings = group.shard.node.settings
    is_allowed = ConsumerGroupMigrationPolicy.of(settings).allows_downgrade
    if not is_allowed:
        log.info("%r is not converted to a classic group: the online downgrade is disabled", group)
    return is_allowed and members <= settings.int("group.max.size")


def downgrade_without(group: ConsumerGroup, leaving: Sequence[ConsumerGroupMember]) -> None:
    """Write the classic group of the other members, which rebalances. Raises Refusal."""
    ids = {member.member_id for member in leaving}
    members = [member for id, member in group.members.items() if id not in ids]
    targets = [member.member_id for member in members]
    classic = _classic_group(group, members, targets)
    _write(group, classic, records.group_tombstones(group, group.members))
    rebalance.prepare_rebalance(classic, "the last member with the consumer protocol left")


def downgrade_with(
    group: ConsumerGroup,
    joining: ConsumerGroupMember,
    replaced: ConsumerGroupMember,
    before: Sequence[CoordinatorRecord],
    *,
    is_stale: bool,
) -> None:
    """Write the classic group in which `joining` stands for `replaced`; `before` are the records
    that replace it. It rebalances if its assignment is stale. Raises Refusal."""
    members = [member for member in group.members.values() if member.member_id != replaced.member_id]
    targets = [*(member.member_id for member in members), replaced.member_id]
    classic = _classic_group(group, [*members, joining], targets)
    ids = [joining.member_id if id == replaced.member_id else id for id in group.members]
    _write(group, classic, [*before, *records.group_tombstones(group, ids)])
    if is_stale:
        rebalance.prepare_rebalance(classic, "the assignment of the consumer group was stale")


def _classic_group(
    group: ConsumerGroup, members: Sequence[ConsumerGroupMember], targets: Sequence[str]
) -> ClassicGroup:
    """Return a stable classic group; `targets` are the member ids whose assignments they have.

    Raises Refusal(GROUP_ID_NOT_FOUND) if the metadata of a member has no version.
    """
    classic = ClassicGroup(group.shard, group.group_id, state=ClassicGroupState.STABLE)
    classic.generation_id, classic.protocol_type = group.group_epoch, CONSUMER_PROTOCOL_TYPE
    for member in members:
        classic.add(_classic_member(member))
    classic.protocol_name = protocols.select_protocol(classic.members.values())
    classic.subscribed_topics = classic.compute_subscribed_topics()
    try:
        for classic_member, target in zip(classic.members.values(), targets, strict=True):
            _set_assignment(classic, classic_member, group.target_assignment.get(target, EMPTY_ASSIGNMENT))
    except WireError as problem:
        message = f"Cannot downgrade the classic group {group.group_id}: {problem}."
        log.warning("%s", message)
        raise Refusal(error_codes.GROUP_ID_NOT_FOUND, message) from problem
    return classic


def _classic_member(member: ConsumerGroupMember) -> ClassicGroupMember:
    metadata = member.classic_member_metadata
    assert metadata is not None
    return ClassicGroupMember(
        member.member_id,
        member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        session_timeout_ms=metadata.session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        supported_protocols={protocol.name: protocol.metadata for protocol in metadata.supported_protocols},
    )


def _set_assignment(classic: ClassicGroup, member: ClassicGroupMember, target: Assignment) -> None:
    assert classic.protocol_name is not None
    version = version_of(member.supported_protocols[classic.protocol_name])
    member.assignment = encode_assignment(target, classic.shard.node.image, version)


def _write(group: ConsumerGroup, classic: ClassicGroup, before: Sequence[CoordinatorRecord]) -> None:
    assignments = {member.member_id: member.assignment for member in classic.members.values()}
    member_ids = list(group.members)
    group.shard.write([*before, classic_records.group_metadata_record(classic, assignments)])
    for member_id in member_ids:
        timers.cancel_all(group, member_id)
    # The record has only the selected protocol of each member; this group has all of them.
    group.shard.groups[group.group_id] = classic
    for member in classic.members.values():
        rebalance.reschedule_session(classic, member)
    log.info("%r is converted to a classic group", group)
