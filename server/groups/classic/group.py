"""A classic group: offset commits, deletion, loading from the log, and changes by a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.group_metadata_record import GroupMetadataValue

from ...coordinator.coordinator_record import CoordinatorRecord
from ...requests.request import Refusal
from ..assignor.assignment import Assignment
from ..coordinator_group import CommitPartitionValidator, accept_partition
from ..group_coordinator_shard import GroupCoordinatorShard
from ..offset_and_metadata import OffsetAndMetadata
from . import rebalance, records
from .membership import ClassicGroupMembership
from .state import VALID_PREVIOUS_STATES, ClassicGroupState


class ClassicGroup(ClassicGroupMembership):
    """One classic group of a shard."""

    @classmethod
    def loaded_from(cls, shard: GroupCoordinatorShard, group_id: str, value: GroupMetadataValue) -> ClassicGroup:
        """Creates the group of a loaded record: stable if it has members, else empty."""
        state = ClassicGroupState.STABLE if value.members else ClassicGroupState.EMPTY
        group = cls(shard, group_id, state=state)
        group.current_state_timestamp = value.current_state_timestamp
        group.protocol_type, group.protocol_name = value.protocol_type or None, value.protocol
        group.generation_id, group.leader_id = value.generation, value.leader
        for member in records.members_of(value):
            group.add(member)
        group.subscribed_topics = group.compute_subscribed_topics()
        return group

    def expire_member(self, name: str) -> None:
        member = self.members.get(self.static_members.get(name, name))
        if member is None:
            raise Refusal(error_codes.UNKNOWN_MEMBER_ID, f"{self.group_id} has the members {', '.join(self.members)}")
        rebalance.expire_member(self, member)

    def rebalance(self) -> None:
        if not self.members:
            raise Refusal(error_codes.UNKNOWN_MEMBER_ID, f"{self.group_id} has no members")
        if self.state in VALID_PREVIOUS_STATES[ClassicGroupState.PREPARING_REBALANCE]:
            rebalance.prepare_rebalance(self, "a rebalance was requested")

    def set_target_assignment(self, assignments: Mapping[str, Assignment]) -> None:
        message = f"{self.group_id} is a classic group: its leader assigns the partitions"
        raise Refusal(error_codes.INVALID_REQUEST, message)

    def validate_offset_commit(
        self, member_id: str, group_instance_id: str | None, generation_id: int, *, transactional: bool, version: int
    ) -> CommitPartitionValidator:
        if generation_id < 0 and self.is_empty:
            # An admin client, or a consumer that assigns its partitions itself.
            return accept_partition
        if generation_id >= 0 or member_id or group_instance_id is not None:
            self.validate_member(member_id, group_instance_id)
            self.validate_generation(generation_id)
        elif not transactional:
            raise Refusal(error_codes.UNKNOWN_MEMBER_ID)
        if not transactional and self.state is ClassicGroupState.COMPLETING_REBALANCE:
            raise Refusal(error_codes.REBALANCE_IN_PROGRESS)
        return accept_partition

    def on_offset_commit(self, member_id: str) -> None:
        extends_session = self.state in (ClassicGroupState.STABLE, ClassicGroupState.PREPARING_REBALANCE)
        if extends_session and member_id in self.members:
            rebalance.reschedule_session(self, self.members[member_id])

    def validate_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Accepts every client, as in Kafka."""

    def validate_offset_delete(self) -> None:
        if not self.is_empty and not self.uses_consumer_protocol:
            raise Refusal(error_codes.NON_EMPTY_GROUP)

    def validate_delete_group(self) -> None:
        if not self.is_empty:
            raise Refusal(error_codes.NON_EMPTY_GROUP)

    def is_subscribed_to_topic(self, topic: str) -> bool:
        return self.uses_consumer_protocol if self.subscribed_topics is None else topic in self.subscribed_topics

    def offset_retention_start(self, offset: OffsetAndMetadata) -> int | None:
        if self.protocol_type is None:
            return offset.commit_timestamp
        if self.is_empty:
            return offset.commit_timestamp if self.current_state_timestamp == -1 else self.current_state_timestamp
        is_stable = self.state is ClassicGroupState.STABLE
        if self.uses_consumer_protocol and self.subscribed_topics is not None and is_stable:
            return offset.commit_timestamp
        return None

    def on_topics_changed(self, names: Set[str]) -> None:
        """Does nothing: members of a classic group find new topics in their own metadata."""

    def tombstones(self) -> Sequence[CoordinatorRecord]:
        return [records.group_metadata_tombstone(self.group_id)]

    def on_loaded(self) -> None:
        for member in self.members.values():
            rebalance.reschedule_session(self, member)
        if len(self.members) > self.shard.node.settings.int("group.max.size"):
            rebalance.prepare_rebalance(self, "the loaded group is larger than group.max.size")

    def retire(self) -> None:
        """Ends the group, because one of another type has replaced it or its shard is closed: its
        timers are cancelled, and pending commits no longer change the group."""
        self.transition_to(ClassicGroupState.DEAD)
        for timer in (self.join_timer, self.sync_timer, *self.pending_join_members.values()):
            if timer is not None:
                timer.cancel()
        for member in self.members.values():
            member.cancel_session()

    def on_unloaded(self) -> None:
        self.retire()
        for member in self.members.values():
            member.fail(error_codes.NOT_COORDINATOR, join_member_id=member.member_id)
