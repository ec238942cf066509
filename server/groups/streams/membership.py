"""The members of a streams group and their tasks, its topology and its state (KIP-1071).

    Empty        has no members
    NotReady     the topology is not validated: topics are missing, or do not fit it
    Assigning    the group epoch is ahead of the target assignment
    Reconciling  a member has not reached its target assignment
    Stable       every member has its target assignment

Rules. The group is what its records say. Only in memory are the configured topology, which is
computed again when it is lacking, what members report (task offsets, a requested shutdown) and the
information for interactive queries. A group that does not exist yet is an object without a place in
its shard; the first records create it there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Set
from enum import Enum

from ..coordinator_group import STREAMS
from ..group_coordinator_shard import GroupCoordinatorShard
from ..modern.heartbeat_group import HeartbeatGroup
from ..modern.metadata_hash import compute_metadata_hash
from ..modern.modern_group import NO_REFRESH_MS, DeadlineAndEpoch
from .assignment_refiner import RefinedAssignment
from .endpoint_information import EndpointInformation
from .members.member_task_offsets import NO_TASK_OFFSETS, MemberTaskOffsets
from .members.streams_group_member import StreamsGroupMember
from .members.task_process_ids import TaskProcessIds
from .members.tasks_tuple import TasksTuple
from .records import StreamsGroupMetadata
from .topics.configured_topology import ConfiguredTopology
from .topics.streams_topology import StreamsTopology


class StreamsGroupState(Enum):
    """The value is the name that Kafka shows."""

    EMPTY = "Empty"
    NOT_READY = "NotReady"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"

    @property
    def filter_name(self) -> str:
        """Returns the name that a filter of ListGroups must have, in lower case.

        Apache Kafka expects `not_ready`; its own admin client sends NotReady, which finds none.
        """
        return "not_ready" if self is StreamsGroupState.NOT_READY else self.value.lower()


FIRST_ASSIGNMENT_EPOCH = 1
"""The assignment epoch of a new group, which has the group epoch 1."""


class StreamsGroupMembership(HeartbeatGroup[StreamsGroupMember]):
    """The members of one streams group of a shard."""

    type = STREAMS
    protocol_type = "streams"
    max_size_setting = "group.streams.max.size"

    def __init__(self, shard: GroupCoordinatorShard, group_id: str) -> None:
        super().__init__(shard, group_id)
        self._state: StreamsGroupState | None = StreamsGroupState.EMPTY
        """None if it must be computed again."""
        self.metadata = StreamsGroupMetadata()
        self.topology: StreamsTopology | None = None
        self.assignment_epoch, self.assignment_timestamp = FIRST_ASSIGNMENT_EPOCH, 0
        self.target_assignment: dict[str, TasksTuple] = {}
        self.processes = TaskProcessIds()
        self.configured_topology: ConfiguredTopology | None = None
        self.refined_assignment = RefinedAssignment()
        self.task_offsets: dict[str, MemberTaskOffsets] = {}
        self.shutdown_request_member_id: str | None = None
        """The member that requested the shutdown of the application."""
        self.endpoints = EndpointInformation()
        self.metadata_refresh_deadline = DeadlineAndEpoch(0, 0)

    @property
    def state(self) -> StreamsGroupState:
        if self._state is None:
            self._state = self._compute_state()
        return self._state

    def _compute_state(self) -> StreamsGroupState:
        if not self.members:
            return StreamsGroupState.EMPTY
        if self.topology is None or self.topology.epoch != self.metadata.validated_topology_epoch:
            return StreamsGroupState.NOT_READY
        if self.metadata.epoch > self.assignment_epoch:
            return StreamsGroupState.ASSIGNING
        if all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values()):
            return StreamsGroupState.STABLE
        return StreamsGroupState.RECONCILING

    @property
    def state_name(self) -> str:
        return self.state.value

    @property
    def state_filter_name(self) -> str:
        return self.state.filter_name

    @property
    def is_stable(self) -> bool:
        return self.state is StreamsGroupState.STABLE

    def set_metadata(self, metadata: StreamsGroupMetadata) -> None:
        """Sets the epochs and what they depend on (replay)."""
        self.metadata, self._state = metadata, None

    def set_topology(self, topology: StreamsTopology | None) -> None:
        """Sets or deletes the topology (replay)."""
        self.topology, self._state = topology, None

    def set_target_assignment_metadata(self, epoch: int, timestamp: int) -> None:
        """Sets the epoch of the target assignment, and when it was computed in ms (replay)."""
        self.assignment_epoch, self.assignment_timestamp, self._state = epoch, timestamp, None

    def new_member(self, member_id: str) -> StreamsGroupMember:
        return StreamsGroupMember(member_id=member_id)

    def update_member(self, member: StreamsGroupMember) -> None:
        """Adds or replaces a member (replay)."""
        self._forget(self.members.get(member.member_id))
        self.members[member.member_id], self._state = member, None
        self.processes.add(member.assigned_tasks, member.process_id)
        self.processes.add(member.tasks_pending_revocation, member.process_id)
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id

    def remove_member(self, member_id: str) -> None:
        """Removes a member (replay). Without members no shutdown is requested any more."""
        self._forget(self.members.pop(member_id, None))
        self._state = None
        self.task_offsets.pop(member_id, None)
        if not self.members:
            self.shutdown_request_member_id = None

    def _forget(self, member: StreamsGroupMember | None) -> None:
        if member is None:
            return
        self.processes.remove(member.assigned_tasks, member.process_id)
        self.processes.remove(member.tasks_pending_revocation, member.process_id)
        self.endpoints.invalidate(member.member_id)
        if member.instance_id is not None:
            self.static_members.pop(member.instance_id, None)

    def task_offsets_of(self, member_id: str) -> MemberTaskOffsets:
        """Returns what the member reported last."""
        return self.task_offsets.get(member_id, NO_TASK_OFFSETS)

    def configure(self, topology: ConfiguredTopology) -> None:
        """Keeps the topology as the topics have it."""
        if topology is not self.configured_topology:
            self.configured_topology = topology
            self.endpoints.invalidate_all()

    def request_shutdown(self, member_id: str) -> None:
        """A member requests the shutdown of the application; the first one is remembered."""
        if self.shutdown_request_member_id is None:
            self.shutdown_request_member_id = member_id

    def compute_metadata_hash(self, topology: StreamsTopology) -> int:
        """Returns the hash of the topics of the topology as they are now."""
        return compute_metadata_hash(topology.required_topics, self.shard.topic_hashes, self.shard.node.image)

    def on_topics_changed(self, names: Set[str]) -> None:
        if self.topology is not None and not names.isdisjoint(self.topology.required_topics):
            self.metadata_refresh_deadline = DeadlineAndEpoch(0, 0)

    def has_metadata_expired(self, now: int) -> bool:
        """Returns whether the metadata hash must be computed again.

        That is so as well if the epoch of the last one was not persisted.
        """
        deadline = self.metadata_refresh_deadline
        return now >= deadline.deadline_ms or self.metadata.epoch < deadline.epoch

    def set_metadata_refresh_deadline(self, now: int) -> None:
        """The metadata hash is that of the topics now."""
        self.metadata_refresh_deadline = DeadlineAndEpoch(now + NO_REFRESH_MS, self.metadata.epoch)

    @abstractmethod
    def fence_member(self, member: StreamsGroupMember) -> None:
        """Removes the member, and writes that. Raises Refusal if it cannot be written."""

    @abstractmethod
    def end_initial_rebalance(self) -> None:
        """Assigns tasks to the members that have joined. Raises Refusal."""

    def __repr__(self) -> str:
        return f"streams group {self.group_id}: {self.state_name}, {len(self.members)} members"
