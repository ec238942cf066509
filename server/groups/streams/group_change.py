"""The change that one heartbeat makes to a streams group: its records, step by step (KIP-1071).

    start      the member as it was
    update     the member as the request has it
    configure  the topology, against the topics that exist now; perhaps another group epoch
    advance    perhaps another target assignment; the member's next step towards it
    write      append everything as one batch, and replay it

Rules. The records, and so what is persisted, change only by `write`. The target assignment is
computed when a heartbeat finds that the group epoch is ahead of it: at most every
`streams.assignment.interval.ms`, and in a group that was empty after its initial rebalance delay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from kafkadouble.messages.generated.streams_group_heartbeat import StreamsGroupHeartbeatRequest

from ...coordinator.coordinator_record import CoordinatorRecord
from . import records, timers
from .assignment_refiner import RefinedAssignment, refine
from .current_assignment import Reconciliation, reconcile
from .group_configs import assignment_configs
from .members.heartbeat_status import HeartbeatStatus, Status
from .members.streams_group_member import StreamsGroupMember
from .members.tasks_tuple import NO_TASKS, TasksTuple
from .membership import StreamsGroupMembership
from .target_assignment import can_compute_next_target_assignment, compute_target_assignment
from .topics.configured_topology import ConfiguredTopology
from .topics.internal_topic_manager import configure_topics
from .topics.streams_topology import StreamsTopology

Assignment = Mapping[str, TasksTuple]

NOT_VALIDATED = -1
"""The validated topology epoch while topics are missing or do not fit."""


class AssignmentUpdate(Enum):
    """Whether a heartbeat makes another target assignment necessary."""

    NONE = "none"
    RECOMPUTE = "recompute"
    REFINED = "refined"


class StreamsGroupChange:
    """The records of one heartbeat, and the member that sent it.

    `group` may be new: it is in the shard only after `write`, as another object.
    """

    member: StreamsGroupMember
    """As it was before the request."""
    updated: StreamsGroupMember
    """As it is after the request."""
    topology: StreamsTopology
    configured: ConfiguredTopology

    def __init__(self, group: StreamsGroupMembership, conversion: Sequence[CoordinatorRecord] = ()) -> None:
        self.group, self.shard = group, group.shard
        self.records = list(conversion)
        self.statuses: list[Status] = []
        self.group_epoch = group.metadata.epoch
        self.replaced_member_id: str | None = None
        """The static member that `member` replaces under another id."""
        self.configs = assignment_configs(self.shard, group.group_id)
        self._update = AssignmentUpdate.NONE
        self._delays_assignment = False
        self._after_write: list[Callable[[], None]] = []

    def start(self, member: StreamsGroupMember) -> None:
        self.member = self.updated = member

    def update(self, updated: StreamsGroupMember, *, is_static: bool) -> None:
        """Takes over what the request changes of the member. Of a static member only some of it
        makes another assignment necessary."""
        self.updated = updated
        if updated == self.member:
            return
        self.records.append(records.member_record(self.group.group_id, updated))
        if not is_static or _assignment_metadata(updated) != _assignment_metadata(self.member):
            self._update = AssignmentUpdate.RECOMPUTE

    def configure(self, topology: StreamsTopology) -> None:
        """Configures the topology of the group if it is new, or its topics have changed.

        Raises Refusal: STREAMS_INVALID_TOPOLOGY, UNKNOWN_SERVER_ERROR.
        """
        group, self.topology = self.group, topology
        metadata_hash, known = group.metadata.metadata_hash, group.configured_topology
        if group.topology is None or known is None or group.has_metadata_expired(self.shard.now):
            metadata_hash = group.compute_metadata_hash(topology)
            if metadata_hash != group.metadata.metadata_hash:
                self._update = AssignmentUpdate.RECOMPUTE
                known = None
            if group.topology is None:
                known = None
            self._after_write.append(self._set_metadata_refresh_deadline)
        self.configured = configure_topics(topology, self.shard.node.image) if known is None else known
        group.configure(self.configured)
        self._metadata_hash = metadata_hash

    def _set_metadata_refresh_deadline(self) -> None:
        self.group.set_metadata_refresh_deadline(self.shard.now)

    def bump_epoch_if_needed(self) -> None:
        """Begins another group epoch if the member, the topology or the configurations changed."""
        epoch = self.topology.epoch if self.configured.is_ready else NOT_VALIDATED
        metadata = self.group.metadata
        if epoch != metadata.validated_topology_epoch or self.configs != metadata.assignment_configs:
            self._update = AssignmentUpdate.RECOMPUTE
        elif self._update is AssignmentUpdate.NONE and self._must_follow_refined_assignment():
            self._update = AssignmentUpdate.REFINED
        if self._update is AssignmentUpdate.NONE:
            return
        self.group_epoch += 1
        bumped = metadata._replace(
            epoch=self.group_epoch,
            metadata_hash=self._metadata_hash,
            validated_topology_epoch=epoch,
            assignment_configs=self.configs,
        )
        self.records.append(records.metadata_record(self.group.group_id, bumped))

    def _must_follow_refined_assignment(self) -> bool:
        if not self.group.is_stable:
            return False
        tasks = refine(self.group.target_assignment).get(self.updated.member_id, NO_TASKS)
        return not tasks.has_same_tasks(self.updated.assigned_tasks)

    def advance(self, body: StreamsGroupHeartbeatRequest) -> None:
        """Computes the target assignment if it is due, and reconcile the member with it.

        Raises Refusal.
        """
        epoch, target = self._update_target_assignment()
        self._refined = self._refined_assignment(epoch, target)
        if self.updated.is_reconciled_to(epoch):
            return
        before, tasks = self.updated, self._refined.assignment.get(self.updated.member_id, NO_TASKS)
        self.updated = reconcile(Reconciliation(before, epoch, tasks, _owned_tasks(body), self.group.processes))
        if self.updated != before:
            self.records.append(records.current_assignment_record(self.group.group_id, self.updated))
            self._after_write.append(lambda: timers.set_rebalance(self.group, self.updated))

    def _update_target_assignment(self) -> tuple[int, Callable[[], Assignment]]:
        """Returns the epoch of the target assignment, and how to get it."""
        group, shard = self.group, self.shard
        if self._awaits_initial_rebalance():
            self._delay("Assignment delayed due to the configured initial rebalance delay.")
            return group.assignment_epoch, dict
        if group.assignment_epoch >= self.group_epoch:
            return group.assignment_epoch, self._present_targets
        if self._update is AssignmentUpdate.REFINED and group.assignment_epoch >= group.metadata.epoch:
            self._append_assignment_epoch(group.assignment_timestamp)
            return self.group_epoch, self._present_targets
        interval_ms = shard.int_group_config(group.group_id, "streams.assignment.interval.ms")
        if not can_compute_next_target_assignment(group, interval_ms, shard.now):
            self._delay("Assignment delayed due to the configured assignment interval.")
            return group.assignment_epoch, self._present_targets
        assigned = self._compute_target_assignment()
        return self.group_epoch, lambda: assigned

    def _awaits_initial_rebalance(self) -> bool:
        delay_ms = self.shard.int_group_config(self.group.group_id, "streams.initial.rebalance.delay.ms")
        if self.group.is_empty and delay_ms > 0:
            self._after_write.append(lambda: timers.schedule_initial_rebalance(self.group, delay_ms))
            return True
        return timers.awaits_initial_rebalance(self.group)

    def _delay(self, detail: str) -> None:
        self.statuses.append(HeartbeatStatus.ASSIGNMENT_DELAYED.with_detail(detail))

    def _compute_target_assignment(self) -> Assignment:
        group, present = self.group, self._present_targets()
        members = {id: member for id, member in self.group.members.items() if id != self.replaced_member_id}
        members[self.updated.member_id] = self.updated
        assigned = compute_target_assignment(group, self.group_epoch, members, self.configured, self.configs)
        self.records += changed_target_records(group.group_id, present, assigned)
        self._append_assignment_epoch(self.shard.now)
        return assigned

    def _append_assignment_epoch(self, timestamp: int) -> None:
        record = records.target_assignment_metadata_record(self.group.group_id, self.group_epoch, timestamp)
        self.records.append(record)

    def _present_targets(self) -> Assignment:
        """Returns the target assignment; a static member has that of the one it replaces."""
        targets = self.group.target_assignment
        if self.replaced_member_id not in targets:
            return targets
        moved = {id: tasks for id, tasks in targets.items() if id != self.replaced_member_id}
        moved[self.updated.member_id] = targets[self.replaced_member_id]
        return moved

    def _refined_assignment(self, epoch: int, target: Callable[[], Assignment]) -> RefinedAssignment:
        known = self.group.refined_assignment
        if self.replaced_member_id is not None:
            known = known.renamed(self.replaced_member_id, self.updated.member_id)
        if known.epoch == epoch and self._update is not AssignmentUpdate.REFINED:
            return known
        return RefinedAssignment(epoch, dict(refine(target())))

    def write(self) -> None:
        """Appends the records and replays them, then sets timers. Raises Refusal."""
        self.shard.write(self.records)
        if self.shard.int_group_config(self.group.group_id, "streams.num.warmup.replicas") > 0:
            self.group.refined_assignment = self._refined
        if self.replaced_member_id is not None:
            timers.cancel_member(self.group, self.replaced_member_id)
        for action in self._after_write:
            action()


def changed_target_records(group_id: str, before: Assignment, after: Assignment) -> list[CoordinatorRecord]:
    """Returns the records of the members whose target assignment is another one."""
    return [
        records.target_assignment_record(group_id, member_id, tasks)
        for member_id, tasks in after.items()
        if tasks != before.get(member_id)
    ]


def _owned_tasks(body: StreamsGroupHeartbeatRequest) -> TasksTuple | None:
    """Returns the tasks that the member says it owns; None if it does not say."""
    if body.active_tasks is None or body.standby_tasks is None or body.warmup_tasks is None:
        return None
    return TasksTuple.of(body)


def _assignment_metadata(member: StreamsGroupMember) -> tuple[object, ...]:
    return member.topology_epoch, member.rack_id, member.client_tags, member.process_id
