"""A streams group (KIP-1071): what commits, deletions, loading and a test do to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafkadouble.messages import error_codes

from ...coordinator.coordinator_record import CoordinatorRecord
from ...requests.request import Refusal
from ..assignor.assignment import Assignment
from ..coordinator_group import CommitPartitionValidator, accept_partition
from ..offset_and_metadata import OffsetAndMetadata
from . import administration, delayed_assignment, member_epochs, records, timers
from .fencing import fence_member
from .members.streams_group_member import StreamsGroupMember
from .membership import StreamsGroupMembership


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

    def on_offset_commit(self, member_id: str) -> None:
        """Only heartbeats restart the session of a member."""

    def validate_offset_delete(self) -> None:
        """Offsets can always be deleted, except those of subscribed topics."""

    def validate_delete_group(self) -> None:
        if self.members:
            raise Refusal(error_codes.NON_EMPTY_GROUP)

    def is_subscribed_to_topic(self, topic: str) -> bool:
        return bool(self.members) and self.topology is not None and topic in self.topology.subtopology_of_source_topic

    def offset_retention_start(self, offset: OffsetAndMetadata) -> int | None:
        return offset.commit_timestamp

    def fence_member(self, member: StreamsGroupMember) -> None:
        fence_member(self, member)

    def end_initial_rebalance(self) -> None:
        delayed_assignment.assign(self)

    def expire_member(self, name: str) -> None:
        administration.expire_member(self, name)

    def rebalance(self) -> None:
        administration.rebalance(self)

    def set_target_assignment(self, assignments: Mapping[str, Assignment]) -> None:
        message = f"{self.group_id} is a streams group: it has tasks and no partitions"
        raise Refusal(error_codes.INVALID_REQUEST, message)

    def tombstones(self) -> Sequence[CoordinatorRecord]:
        group_id, members = self.group_id, [*self.members]
        return [
            *(records.current_assignment_tombstone(group_id, member_id) for member_id in members),
            *(records.target_assignment_tombstone(group_id, member_id) for member_id in members),
            records.target_assignment_metadata_tombstone(group_id),
            *(records.member_tombstone(group_id, member_id) for member_id in members),
            records.metadata_tombstone(group_id),
            records.topology_tombstone(group_id),
        ]

    def on_loaded(self) -> None:
        timers.schedule_all(self)

    def on_unloaded(self) -> None:
        """Nothing waits, and the shard cancels its timers."""
