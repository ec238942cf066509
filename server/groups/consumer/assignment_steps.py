"""The change that one request makes to a consumer group: its records, step by step (KIP-848).

    start      the member as it was
    update     the member as the request has it: subscription, assignor; perhaps another group epoch
    advance    perhaps another target assignment; the member's next step towards it
    write      append everything as one batch, and replay it

Rules. Nothing changes the group before `write`. The target assignment is computed when a heartbeat
finds that the group epoch is ahead of it, at most every `consumer.assignment.interval.ms`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...coordinator.coordinator_record import CoordinatorRecord
from ..assignor.assignment import EMPTY_ASSIGNMENT, Assignment
from ..modern.modern_group_member import MemberState
from ..modern.target_assignment import can_compute_next_target_assignment, compute_target_assignment
from . import records, timers
from .assignors import assignor_named, default_assignor_name
from .consumer_group import ConsumerGroup
from .consumer_group_member import ConsumerGroupMember
from .current_assignment import ReconciliationTarget, reconcile
from .membership import is_homogeneous
from .regular_expressions import RegexUpdate, maybe_update_regular_expressions


class GroupChange:
    """The records of one request to a group, and the member that sent it.

    `group` may be new: it is in the shard only after `write`.
    """

    member: ConsumerGroupMember
    """As it was before the request."""
    updated: ConsumerGroupMember
    """As it is after the request."""

    def __init__(self, group: ConsumerGroup, conversion: Sequence[CoordinatorRecord] = ()) -> None:
        self.group, self.shard = group, group.shard
        self.records = list(conversion)
        self.group_epoch = group.group_epoch
        self.replaced_member_id: str | None = None
        """The static member that `member` replaces."""
        self._homogeneous: bool | None = None
        """Whether the group is homogeneous with the updated member; None if it is as before."""
        self._has_subscription_changed = False
        self._after_write: list[Callable[[], None]] = []

    def after_write(self, action: Callable[[], None]) -> None:
        """Calls `action` once the records are written; actions run in the order of these calls."""
        self._after_write.append(action)

    def start(self, member: ConsumerGroupMember) -> None:
        self.member = self.updated = member

    def update(self, updated: ConsumerGroupMember, *, bumps_for_any_regex: bool = False) -> None:
        """Takes over what the request changes of the member. Raises Refusal."""
        self.updated = updated
        names_changed = self._update_subscription()
        regex = maybe_update_regular_expressions(self)
        regex_bumps = regex.is_updated if bumps_for_any_regex else regex is RegexUpdate.UPDATED_AND_RESOLVED
        assignor_changed = not bumps_for_any_regex and self._has_preferred_assignor_changed()
        self._has_subscription_changed = names_changed or regex.is_updated
        bumps = names_changed or regex_bumps or assignor_changed
        if bumps or self.group.has_metadata_expired(self.shard.now):
            self._update_subscription_metadata(bumps)

    def _update_subscription(self) -> bool:
        if self.updated is self.member or self.updated == self.member:
            return False
        self.records.append(records.member_subscription_record(self.group.group_id, self.updated))
        return self.updated.subscribed_topic_names != self.member.subscribed_topic_names

    def _has_preferred_assignor_changed(self) -> bool:
        if self.updated is self.member and len(self.group.server_assignors) < 2:
            return False
        default = default_assignor_name(self.shard.node.settings)
        before = self.group.preferred_server_assignor() or default
        return before != (self.group.preferred_server_assignor(self.member, self.updated) or default)

    def _update_subscription_metadata(self, bump: bool) -> None:
        group, updated = self.group, self.updated
        names = group.subscriptions_with(self.member, updated)
        metadata_hash = group.compute_metadata_hash(names)
        is_new = updated.member_id not in group.members and self.group.static_member(updated.instance_id) is None
        regexes = group.regular_expressions_with(self.member, updated)
        self._homogeneous = is_homogeneous(regexes, names, len(group.members) + is_new)
        if bump or metadata_hash != group.metadata_hash:
            self.group_epoch += 1
            self.records.append(records.epoch_record(group.group_id, self.group_epoch, metadata_hash))
        epoch, now = self.group_epoch, self.shard.now
        self.after_write(lambda: self._written_group().set_metadata_refresh_deadline(now, epoch))
        if group.has_subscription_metadata_record:
            self.records.append(records.subscription_metadata_tombstone(group.group_id))

    def _written_group(self) -> ConsumerGroup:
        written = self.shard.groups[self.group.group_id]
        assert isinstance(written, ConsumerGroup)
        return written

    def advance(self, owned: Sequence[Any] | None) -> None:
        """Computes the target assignment if it is due, and reconcile the member with it.

        `owned` are the partitions that the member says it owns. Raises Refusal.
        """
        self.reconcile(*self._update_target_assignment(), owned)

    def reconcile(self, epoch: int, assignment: Assignment, owned: Sequence[Any] | None) -> None:
        """Takes the member one step further towards this target assignment. Raises Refusal."""
        member = self.updated
        if not self._has_subscription_changed and member.is_reconciled_to(epoch):
            return
        topics = self.group.subscribed_topics(member)
        topic_ids = self.shard.node.image.topic_ids
        subscribed = frozenset(topic_ids[topic] for topic in topics if topic in topic_ids)
        changed, partition_epoch = self._has_subscription_changed, self.group.current_partition_epoch
        self.updated = reconcile(
            member, ReconciliationTarget(epoch, assignment, subscribed, changed, owned, partition_epoch)
        )
        if self.updated != member:
            self.records.append(records.current_assignment_record(self.group.group_id, self.updated))
            self.after_write(self._set_rebalance_timer)

    def _set_rebalance_timer(self) -> None:
        if self.updated.uses_classic_protocol:
            return
        if self.updated.state is MemberState.UNREVOKED_PARTITIONS:
            timers.schedule_rebalance(self.group, self.updated)
        else:
            timers.cancel(self.group, timers.REBALANCE, self.updated.member_id)

    def _update_target_assignment(self) -> tuple[int, Assignment]:
        """Returns the epoch of the target assignment, and the member's part of it."""
        group, shard = self.group, self.shard
        if group.assignment_epoch >= self.group_epoch or not self._may_compute_target_assignment():
            return group.assignment_epoch, group.target_assignment_of(self.updated)
        members, present = self._members_and_targets()
        name = group.preferred_server_assignor(self.member, self.updated)
        assigned = compute_target_assignment(
            group,
            self.group_epoch,
            assignor_named(name or default_assignor_name(shard.node.settings)),
            members,
            present,
            group.subscribed_topics,
            homogeneous=group.is_homogeneous if self._homogeneous is None else self._homogeneous,
        )
        for member_id, assignment in assigned.items():
            if assignment != present.get(member_id):
                self.records.append(records.target_assignment_record(group.group_id, member_id, assignment))
        metadata = records.target_assignment_metadata_record(group.group_id, self.group_epoch, shard.now)
        self.records.append(metadata)
        return self.group_epoch, assigned.get(self.updated.member_id, EMPTY_ASSIGNMENT)

    def _may_compute_target_assignment(self) -> bool:
        interval_ms = self.shard.int_group_config(self.group.group_id, "consumer.assignment.interval.ms")
        return can_compute_next_target_assignment(self.group, interval_ms, self.shard.now)

    def _members_and_targets(self) -> tuple[dict[str, ConsumerGroupMember], dict[str, Assignment]]:
        """Returns the members and target assignments of the group with the updated member."""
        members, targets = dict(self.group.members), dict(self.group.target_assignment)
        if self.replaced_member_id is not None:
            members.pop(self.replaced_member_id, None)
            targets[self.updated.member_id] = targets.pop(self.replaced_member_id, EMPTY_ASSIGNMENT)
        members[self.updated.member_id] = self.updated
        return members, targets

    def write(self) -> None:
        """Appends the records and replays them, then sets timers. Raises Refusal."""
        self.shard.write(self.records)
        for action in self._after_write:
            action()
