"""Reconciles a member with its target assignment (KIP-848, Kafka: `CurrentAssignmentBuilder`).

    STABLE                 in another epoch than the target: next assignment
    UNREVOKED_PARTITIONS   once the member owns nothing that it must revoke: next assignment
    UNRELEASED_PARTITIONS  next assignment: a partition may have been released
    UNKNOWN                next assignment if the member owns nothing, else it is fenced

Rules of the next assignment. First the member revokes what the target does not have, and stays in
its epoch. Then it advances to the target's epoch and gets the partitions that no other member has;
while some are missing, it is UNRELEASED_PARTITIONS. A member never gets a partition of a topic that
it does not subscribe to, even if an older target assignment has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid

from ...requests.request import Refusal
from ..assignor.assignment import Assignment, PartitionSet
from ..modern.modern_group_member import MemberState
from .consumer_group_member import ConsumerGroupMember, PartitionEpochs

UNKNOWN_STATE = (
    "The consumer group member is in a unknown state. The member must abandon all its partitions and rejoin."
)

NO_PARTITIONS = PartitionSet()

NO_EPOCH = -1
"""The current epoch of a partition that no member has."""


class ReconciliationTarget(NamedTuple):
    """The target with which a member is reconciled.

    `owned` are the partitions that the member says it owns; None if it does not say.
    `partition_epoch` returns the epoch of the member that has a partition now, or NO_EPOCH.
    """

    epoch: int
    assignment: Assignment
    subscribed_topic_ids: AbstractSet[Uuid]
    has_subscription_changed: bool
    owned: Sequence[Any] | None
    partition_epoch: Callable[[Uuid, int], int]


def reconcile(member: ConsumerGroupMember, target: ReconciliationTarget) -> ConsumerGroupMember:
    """Returns the member after its next step. Raises Refusal(FENCED_MEMBER_EPOCH)."""
    return _STEPS[member.state](member, target)


def _from_stable(member: ConsumerGroupMember, target: ReconciliationTarget) -> ConsumerGroupMember:
    if member.member_epoch != target.epoch:
        return _next_assignment(member, member.member_epoch, target)
    return _without_unsubscribed(member, target) if target.has_subscription_changed else member


def _from_unrevoked(member: ConsumerGroupMember, target: ReconciliationTarget) -> ConsumerGroupMember:
    if not _owns(target.owned, member.partitions_pending_revocation):
        return _next_assignment(member, member.member_epoch, target)
    return _without_unsubscribed(member, target) if target.has_subscription_changed else member


def _from_unreleased(member: ConsumerGroupMember, target: ReconciliationTarget) -> ConsumerGroupMember:
    return _next_assignment(member, member.member_epoch, target)


def _from_unknown(member: ConsumerGroupMember, target: ReconciliationTarget) -> ConsumerGroupMember:
    if target.owned is None or target.owned:
        raise Refusal(error_codes.FENCED_MEMBER_EPOCH, UNKNOWN_STATE)
    return _next_assignment(member, target.epoch, target)


_STEPS = {
    MemberState.STABLE: _from_stable,
    MemberState.UNREVOKED_PARTITIONS: _from_unrevoked,
    MemberState.UNRELEASED_PARTITIONS: _from_unreleased,
    MemberState.UNKNOWN: _from_unknown,
}


def _owns(owned: Sequence[Any] | None, partitions: PartitionEpochs) -> bool:
    """Returns whether the member owns one of the partitions; it may, if it does not say."""
    if owned is None:
        return True
    return any(not partitions.get(each.topic_id, {}).keys().isdisjoint(each.partitions) for each in owned)


def _without_unsubscribed(member: ConsumerGroupMember, target: ReconciliationTarget) -> ConsumerGroupMember:
    """Revokes the partitions of topics to which the member does not subscribe any more."""
    subscribed = target.subscribed_topic_ids
    kept = {id: partitions for id, partitions in member.assigned_partitions.items() if id in subscribed}
    revokes_nothing = len(kept) == len(member.assigned_partitions)
    # As in Kafka, a member without any subscription takes this step even if it has nothing.
    if revokes_nothing and (subscribed or member.partitions_pending_revocation):
        return member
    pending: dict[Uuid, Mapping[int, int]] = dict(member.partitions_pending_revocation)
    for id, partitions in member.assigned_partitions.items():
        if id not in subscribed:
            pending[id] = {**pending.get(id, {}), **partitions}
    if pending and _owns(target.owned, pending):
        return _advanced(member, MemberState.UNREVOKED_PARTITIONS, member.member_epoch, kept, pending)
    pending = dict(member.partitions_pending_revocation)
    return _advanced(member, member.state, member.member_epoch, kept, pending)


def _next_assignment(
    member: ConsumerGroupMember, member_epoch: int, target: ReconciliationTarget
) -> ConsumerGroupMember:
    assigned: dict[Uuid, Mapping[int, int]] = {}
    revoked: dict[Uuid, Mapping[int, int]] = {}
    pending: dict[Uuid, dict[int, int]] = {}
    is_unreleased = False
    for id in {**target.assignment, **member.assigned_partitions}:
        in_target = target.assignment.get(id, NO_PARTITIONS) if id in target.subscribed_topic_ids else NO_PARTITIONS
        current = member.assigned_partitions.get(id, {})
        if kept := {partition: epoch for partition, epoch in current.items() if partition in in_target}:
            assigned[id] = kept
        if len(kept) < len(current):
            revoked[id] = {partition: epoch for partition, epoch in current.items() if partition not in in_target}
        missing = sorted(partition for partition in in_target if partition not in current)
        free = [partition for partition in missing if _is_free(member, target, id, partition)]
        is_unreleased = is_unreleased or len(free) < len(missing)
        if free:
            pending[id] = dict.fromkeys(free, target.epoch)
    if revoked and _owns(target.owned, revoked):
        return _advanced(member, MemberState.UNREVOKED_PARTITIONS, member_epoch, assigned, revoked)
    for id, partitions in pending.items():
        assigned[id] = {**assigned.get(id, {}), **partitions}
    state = MemberState.UNRELEASED_PARTITIONS if is_unreleased else MemberState.STABLE
    return _advanced(member, state, target.epoch, assigned, {})


def _is_free(member: ConsumerGroupMember, target: ReconciliationTarget, topic_id: Uuid, partition: int) -> bool:
    """Returns whether no other member has the partition."""
    if target.partition_epoch(topic_id, partition) == NO_EPOCH:
        return True
    return partition in member.partitions_pending_revocation.get(topic_id, {})


def _advanced(
    member: ConsumerGroupMember, state: MemberState, epoch: int, assigned: PartitionEpochs, pending: PartitionEpochs
) -> ConsumerGroupMember:
    return replace(
        member,
        state=state,
        member_epoch=epoch,
        previous_member_epoch=member.member_epoch,
        assigned_partitions=assigned,
        partitions_pending_revocation=pending,
    )
