"""The change that one heartbeat makes to a share group: its records, step by step (KIP-932).

    subscription         the member as the request has it
    group epoch          it grows if a subscription, a subscribed topic, or the initialized
                         partitions changed
    target assignment    computed if the group epoch is ahead of it, at most every
                         `share.assignment.interval.ms`; only initialized partitions are assigned
    current assignment   the member gets its part at once: no other member must release anything
    initialization       partitions of the subscribed topics that need a state

Nothing changes the group before `write`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from ...coordinator.coordinator_record import CoordinatorRecord
from ..assignor.assignment import EMPTY_ASSIGNMENT, Assignment
from ..assignor.simple_assignor import SimpleAssignor
from ..modern.modern_group_member import MemberState
from ..modern.subscription_count import SubscribedTopicNames
from ..modern.target_assignment import can_compute_next_target_assignment, compute_target_assignment
from . import records
from .initialization import Initialization, initializations_of
from .share_group import ShareGroup
from .share_group_member import ShareGroupMember
from .state_partition_metadata import StatePartitionMetadata, uninitialized_partitions

ASSIGNOR = SimpleAssignor()
RETRY_SETTING = "group.share.initialize.retry.interval.ms"


class ShareGroupChange:
    """The records of one heartbeat. `member` is as before the request, `updated` as after it.

    `group` may be new: it is in the shard only after `write`.
    """

    def __init__(self, group: ShareGroup, member: ShareGroupMember, updated: ShareGroupMember) -> None:
        self.group, self.shard, self.member, self.updated = group, group.shard, member, updated
        self.records: list[CoordinatorRecord] = []
        self.group_epoch, self.homogeneous = group.group_epoch, group.is_homogeneous
        self._names: SubscribedTopicNames = group.subscribed_topic_names
        self._refreshes_metadata = False
        bumps = self._update_subscription()
        if group.assignment_epoch >= group.group_epoch:
            bumps |= group.has_initialized_assignment_pending()
        if bumps or group.has_metadata_expired(self.shard.now):
            bumps = self._update_subscription_metadata(bumps)
        self._reconcile(*self._update_target_assignment(), bumps)
        self.initializations: list[Initialization] = self._initialize()

    def _update_subscription(self) -> bool:
        """Returns whether the member subscribes to other topics."""
        if self.updated == self.member:
            return False
        self.records.append(records.member_subscription_record(self.group.group_id, self.updated))
        return self.updated.subscribed_topic_names != self.member.subscribed_topic_names

    def _update_subscription_metadata(self, bumps: bool) -> bool:
        """Returns whether the group epoch grows."""
        group, updated = self.group, self.updated
        self._names = group.subscriptions_with(self.member, updated)
        metadata_hash = group.compute_metadata_hash(self._names)
        count = len(group.members) + (updated.member_id not in group.members)
        self.homogeneous = all(name.by_name == count for name in self._names.values())
        bumps |= metadata_hash != group.metadata_hash
        if bumps:
            self.group_epoch += 1
            self.records.append(records.epoch_record(group.group_id, self.group_epoch, metadata_hash))
        self._refreshes_metadata = True
        return bumps

    def _update_target_assignment(self) -> tuple[int, Assignment]:
        """Returns the epoch of the target assignment, and the member's part of it. Raises
        Refusal."""
        group, shard, member_id = self.group, self.shard, self.updated.member_id
        interval_ms = shard.int_group_config(group.group_id, "share.assignment.interval.ms")
        is_current = group.assignment_epoch >= self.group_epoch
        if is_current or not can_compute_next_target_assignment(group, interval_ms, shard.now):
            return group.assignment_epoch, group.target_assignment.get(member_id, EMPTY_ASSIGNMENT)
        assigned = compute_target_assignment(
            group,
            self.group_epoch,
            ASSIGNOR,
            {**group.members, member_id: self.updated},
            group.target_assignment,
            lambda member: member.subscribed_topic_names,
            homogeneous=self.homogeneous,
            assignable_partitions={id: value.partitions for id, value in self._metadata.initialized.items()},
        )
        for each, assignment in assigned.items():
            if assignment != group.target_assignment.get(each):
                self.records.append(records.target_assignment_record(group.group_id, each, assignment))
        self.records.append(records.target_assignment_metadata_record(group.group_id, self.group_epoch, shard.now))
        return self.group_epoch, assigned.get(member_id, EMPTY_ASSIGNMENT)

    def _reconcile(self, epoch: int, assignment: Assignment, has_subscription_changed: bool) -> None:
        member = self.updated
        if not has_subscription_changed and member.is_reconciled_to(epoch):
            return
        if epoch != member.member_epoch:
            self.updated = replace(
                member,
                member_epoch=epoch,
                previous_member_epoch=member.member_epoch,
                state=MemberState.STABLE,
                assigned_partitions=self._subscribed(assignment),
            )
        else:
            self.updated = replace(member, assigned_partitions=self._subscribed(assignment))
        if self.updated != member:
            self.records.append(records.current_assignment_record(self.group.group_id, self.updated))

    def _subscribed(self, assignment: Assignment) -> Assignment:
        """Returns the topics of the assignment to which the member still subscribes."""
        topic_ids = self.shard.node.image.topic_ids
        subscribed = {topic_ids.get(name) for name in self.updated.subscribed_topic_names}
        return {topic_id: partitions for topic_id, partitions in assignment.items() if topic_id in subscribed}

    @cached_property
    def _metadata(self) -> StatePartitionMetadata:
        return self.group.state_partition_metadata or StatePartitionMetadata()

    def _initialize(self) -> list[Initialization]:
        """Returns the partitions that need a state."""
        image, metadata = self.shard.node.image, self._metadata
        settings = self.shard.node.settings
        retry_ms = max(settings.int(RETRY_SETTING), settings.int(self.shard.commit_timeout_setting))
        topics = uninitialized_partitions(metadata, self._names, image, self.shard.now, retry_ms)
        if not topics:
            return []
        record = records.state_partition_metadata_record(self.group.group_id, metadata.with_initializing(topics), image)
        self.records.append(record)
        known = metadata.initialized.keys() | metadata.initializing.keys()
        return initializations_of(topics, known, self.group_epoch)

    def write(self) -> None:
        """Appends the records and replays them. Raises Refusal."""
        self.shard.write(self.records)
        if self._refreshes_metadata:
            written = self.shard.groups[self.group.group_id]
            assert isinstance(written, ShareGroup)
            written.set_metadata_refresh_deadline(self.shard.now, self.group_epoch)
