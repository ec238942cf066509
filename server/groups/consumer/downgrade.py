"""Converts a consumer group into a classic group with the same members (KIP-848).

When the last member that uses the consumer protocol has left, or was replaced by a classic static
member, the others form a classic group, which rebalances.

Rules. Both sides are written as one batch: the tombstones of one, the record of the other. If a
group cannot be converted, the error is GROUP_ID_NOT_FOUND, with the reason in the message.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from kafkadouble.messages import error_codes
from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import WireError

from ...coordinator.coordinator_record import CoordinatorRecord
from ...requests.request import Refusal
from ..assignor.assignment import EMPTY_ASSIGNMENT, Assignment
from ..classic import protocols, rebalance
from ..classic import records as classic_records
from ..classic.group import ClassicGroup
from ..classic.member import ClassicGroupMember
from ..classic.membership import CONSUMER_PROTOCOL_TYPE
from ..classic.state import ClassicGroupState
from ..consumer_protocol import encode_assignment, version_of
from . import records, timers
from .consumer_group_member import ConsumerGroupMember
from .membership import ConsumerGroupMembership
from .migration_policy import ConsumerGroupMigrationPolicy

log = ClientLog("kafkadouble.server.groups")


def can_downgrade_without(group: ConsumerGroupMembership, leaving: Collection[ConsumerGroupMember]) -> bool:
    """Returns whether the group becomes a classic one when these members leave."""
    left = len(group.members) - len(leaving)
    return left > 0 and group.all_use_classic_protocol_except(leaving) and _may_downgrade(group, left)


def can_downgrade_with(group: ConsumerGroupMembership, replaced: ConsumerGroupMember) -> bool:
    """Returns whether the group becomes a classic one when a classic member replaces this one."""
    if replaced.uses_classic_protocol:
        return False
    return group.all_use_classic_protocol_except([replaced]) and _may_downgrade(group, len(group.members))


def _may_downgrade(group: ConsumerGroupMembership, members: int) -> bool:
    settings = group.shard.node.settings
    is_allowed = ConsumerGroupMigrationPolicy.of(settings).allows_downgrade
    if not is_allowed:
        log.info("%r is not converted to a classic group: the online downgrade is disabled", group)
    return is_allowed and members <= settings.int("group.max.size")


def downgrade_without(group: ConsumerGroupMembership, leaving: Sequence[ConsumerGroupMember]) -> None:
    """Writes the classic group of the other members, which rebalances. Raises Refusal."""
    ids = {member.member_id for member in leaving}
    members = [member for id, member in group.members.items() if id not in ids]
    targets = [member.member_id for member in members]
    classic = _classic_group(group, members, targets)
    _write(group, classic, _tombstones(group, group.members))
    rebalance.prepare_rebalance(classic, "the last member with the consumer protocol left")


def downgrade_with(
    group: ConsumerGroupMembership,
    joining: ConsumerGroupMember,
    replaced: ConsumerGroupMember,
    before: Sequence[CoordinatorRecord],
    *,
    is_stale: bool,
) -> None:
    """Writes the classic group in which `joining` stands for `replaced`; `before` are the records
    that replace it. It rebalances if its assignment is stale. Raises Refusal."""
    members = [member for member in group.members.values() if member.member_id != replaced.member_id]
    targets = [*(member.member_id for member in members), replaced.member_id]
    classic = _classic_group(group, [*members, joining], targets)
    ids = [joining.member_id if id == replaced.member_id else id for id in group.members]
    _write(group, classic, [*before, *_tombstones(group, ids)])
    if is_stale:
        rebalance.prepare_rebalance(classic, "the assignment of the consumer group was stale")


def _tombstones(group: ConsumerGroupMembership, member_ids: Iterable[str]) -> list[CoordinatorRecord]:
    return records.group_tombstones(group.group_id, member_ids, group.resolved_regular_expressions)


def _classic_group(
    group: ConsumerGroupMembership, members: Sequence[ConsumerGroupMember], targets: Sequence[str]
) -> ClassicGroup:
    """Returns a stable classic group; `targets` are the member ids whose assignments they have.

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


def _write(group: ConsumerGroupMembership, classic: ClassicGroup, before: Sequence[CoordinatorRecord]) -> None:
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
