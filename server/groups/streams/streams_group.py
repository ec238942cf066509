"""A streams group (KIP-1071): what commits, deletions, loading and a test do to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafkadouble.messages import error_codes
from kafkadouble.wire.client_log import ClientLog

from ...coordinator.coordinator_record import CoordinatorRecord
from ...requests.request import Refusal
from ..assignor.assignment import Assignment
from ..coordinator_group import CommitPartitionValidator, accept_partition
from . import member_epochs, records, timers
from .group_change import changed_target_records
from .members.streams_group_member import StreamsGroupMember
from .membership import StreamsGroupMembership
from .target_assignment import compute_target_assignment

log = ClientLog("kafkadouble.server.groups")

ASSIGN_AT_ONCE = 0
"""The time of a target assignment after which the next one need not wait."""


class StreamsGroup(StreamsGroupMembership):
    """One streams group of a shard."""

    def validate_offset_commit(
        self, member_id: str, group_instance_id: str | None, generation_id: int, *, transactional: bool, version: int
    ) -> CommitPartitionValidator:
        if generation_id < 0 and not self.members:
            return accept_partition
        if transactional and generation_id == -1 and not member_id and group_instance_id is None:
            return accept_partition
        return member_epochs.validate_commit(
            self.topology, self.member(member_id), generation_id, transactional=transactional, version=version
        )

    def validate_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        if member_id is not None or member_epoch >= 0:
            member_epochs.validate_fetch(self.member(member_id or ""), member_epoch)

    def validate_offset_delete(self) -> None:
        """Offsets can always be deleted, except those of subscribed topics."""

    def is_subscribed_to_topic(self, topic: str) -> bool:
        return bool(self.members) and self.topology is not None and topic in self.topology.subtopology_of_source_topic

    def fence_member(self, member: StreamsGroupMember) -> None:
        # The group epoch advances, so that the others get their tasks. After the last member, the
        # next one gets an assignment at once, whatever the assignment interval is.
        epoch = self.metadata.epoch + 1
        removal = records.member_tombstones(self.group_id, member.member_id)
        removal.append(records.metadata_record(self.group_id, self.metadata._replace(epoch=epoch)))
        if len(self.members) == 1:
            removal.append(records.target_assignment_metadata_record(self.group_id, epoch, ASSIGN_AT_ONCE))
        self.shard.write(removal)
        timers.cancel_member(self, member.member_id)

    def end_initial_rebalance(self) -> None:
        """The first assignment of a group that was empty, after its initial rebalance delay."""
        topology, epoch = self.configured_topology, self.metadata.epoch
        if topology is None or epoch <= self.assignment_epoch:
            log.warning("%r: nothing to assign after its initial delay", self)
            return
        configs = self.metadata.assignment_configs
        assigned = compute_target_assignment(self, epoch, self.members, topology, configs)
        changed = changed_target_records(self.group_id, self.target_assignment, assigned)
        changed.append(records.target_assignment_metadata_record(self.group_id, epoch, self.shard.now))
        self.shard.write(changed)

    def expire_member(self, name: str) -> None:
        self.fence_member(self.named_member(name))

    def rebalance(self) -> None:
        """The next heartbeat computes another target assignment, without the usual pause."""
        self.refuse_to_rebalance_empty()
        group_id, epoch = self.group_id, self.metadata.epoch + 1
        self.shard.write(
            [
                records.target_assignment_metadata_record(group_id, self.assignment_epoch, ASSIGN_AT_ONCE),
                records.metadata_record(group_id, self.metadata._replace(epoch=epoch)),
            ]
        )

    def set_target_assignment(self, assignments: Mapping[str, Assignment]) -> None:
        message = f"{self.group_id} is a streams group: it has tasks and no partitions"
        raise Refusal(error_codes.INVALID_REQUEST, message)

    def tombstones(self) -> Sequence[CoordinatorRecord]:
        return records.group_tombstones(self.group_id, self.members)

    def on_loaded(self) -> None:
        timers.schedule_all(self)
