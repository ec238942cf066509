"""Builds the record that changes one partition: the only place where partition changes are computed
(Kafka's PartitionChangeBuilder).

In Kafka's order. A reassignment completes if it can. While fewer than min.insync.replicas are in
sync, replicas that leave the ISR stay eligible (KIP-966); with enough in sync the ELR is empty.
Then a leader is elected, always: a leader that left the ISR cannot continue. After an unclean
election only the new leader is in sync, and it recovers (KIP-704). The leader epoch rises with a
new leader and when a replica is removed; before metadata.version 3.6 also when the ISR shrinks.
Without eligible leader replicas the last in-sync replica stays in the ISR, alive or not. The rules
of the topic, and which brokers may lead, are arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.messages.uuid import Uuid

from ..metadata.image import PartitionImage
from ..metadata.log_dir_ids import directories_of
from ..metadata.replay_topics import NO_LEADER_CHANGE, NO_RECOVERY_CHANGE
from .leader_election import NO_LEADER, Election, LeaderCandidates, elect
from .partition_reassignment_replicas import PartitionReassignmentReplicas

RECOVERED, RECOVERING = 0, 1
"""LeaderRecoveryState (KIP-704)."""

Brokers = Sequence[int]


class PartitionTarget(NamedTuple):
    """The target state of a partition; None leaves a field as it is."""

    isr: Brokers | None = None
    replicas: Brokers | None = None
    adding: Brokers | None = None
    removing: Brokers | None = None
    election: Election = Election.ONLINE
    recovery: int | None = None
    directories: Mapping[int, Uuid] | None = None
    unclean_shutdown_replica: int | None = None
    """A broker that returned from an unclean shutdown and may have lost records."""


class PartitionChangeRules(NamedTuple):
    """The rules for changes of one topic's partitions."""

    may_lead: Callable[[PartitionImage, int], bool]
    min_isr: int
    elr: bool
    epoch_with_shrink: bool
    default_directory: Callable[[int], Uuid] | None
    """The directory of a new replica on a broker. None if metadata.version has no directories."""


def build_partition_change(
    partition: PartitionImage, topic_id: Uuid, index: int, target: PartitionTarget, rules: PartitionChangeRules
) -> PartitionChangeRecord | None:
    """The record that comes as close to the target as the rules allow; None if nothing changes."""
    making = _PartitionChangeBuilder(
        partition, target, rules, PartitionChangeRecord(partition_id=index, topic_id=topic_id)
    )
    making.complete_reassignment()
    making.update_elr()
    making.elect()
    making.set_isr_and_elr()
    making.bump_leader_epoch()
    making.update_last_known_leader()
    making.set_assignment()
    return making.record if making.has_changes() else None


class _PartitionChangeBuilder:
    """The previous state, the target, and the record so far."""

    def __init__(
        self,
        before: PartitionImage,
        target: PartitionTarget,
        rules: PartitionChangeRules,
        record: PartitionChangeRecord,
    ) -> None:
        self.before, self.target, self.rules, self.record = before, target, rules, record
        self.isr = _value_or_previous(target.isr, before.isr)
        self.replicas = _value_or_previous(target.replicas, before.replicas)
        self.adding = _value_or_previous(target.adding, before.adding_replicas)
        self.removing = _value_or_previous(target.removing, before.removing_replicas)
        self.elr = list(before.elr)

    def complete_reassignment(self) -> None:
        completed = PartitionReassignmentReplicas(self.replicas, self.adding, self.removing).completed(self.isr)
        if completed is not None:
            self.replicas, self.isr = completed
            self.adding, self.removing = [], []

    def update_elr(self) -> None:
        if self.rules.elr and len(self.isr) < self.rules.min_isr:
            had_everything = {*self.elr, *self.before.isr}
            self.elr = sorted(had_everything - {*self.isr, self.target.unclean_shutdown_replica})
        elif self.rules.elr:
            self.elr = []

    def elect(self) -> None:
        before, record = self.before, self.record
        candidates = LeaderCandidates(
            self.replicas, self.isr, self.elr, lambda broker: self.rules.may_lead(before, broker)
        )
        leader, unclean = elect(before, candidates, self.target.election, elr=self.rules.elr)
        if leader == before.leader:
            return
        record.leader = leader
        if leader in self.elr:
            self.isr, self.elr = [leader], [broker for broker in self.elr if broker != leader]
        if unclean:
            self.isr, self.elr = [leader], []
            if before.leader_recovery_state != RECOVERING:
                record.leader_recovery_state = RECOVERING

    def set_isr_and_elr(self) -> None:
        if not self.rules.elr:
            self.elr = []
        if self.elr != list(self.before.elr):
            self.record.eligible_leader_replicas = self.elr
        if self.isr != list(self.before.isr) and (self.isr or self.rules.elr):
            self.record.isr = self.isr

    def bump_leader_epoch(self) -> None:
        """A record that names the same leader again raises its leader epoch."""
        fewer_replicas = not set(self.before.replicas) <= set(self.replicas)
        isr = self.record.isr
        shrunk = isr is not None and not set(self.before.isr) <= set(isr)
        if self.record.leader == NO_LEADER_CHANGE and (fewer_replicas or (shrunk and self.rules.epoch_with_shrink)):
            self.record.leader = self.before.leader

    def update_last_known_leader(self) -> None:
        """Keeps the last leader in `last_known_elr` (KIP-966) until there is a leader again."""
        if not self.rules.elr:
            return
        known = self.before.last_known_elr
        if self.record.leader == NO_LEADER and not known and self.before.leader != NO_LEADER:
            self.record.last_known_elr = [self.before.leader]
        elif self.record.leader > NO_LEADER and known:
            self.record.last_known_elr = []

    def set_assignment(self) -> None:
        before, record = self.before, self.record
        if (default := self.rules.default_directory) is not None:
            known = {**directories_of(before), **(self.target.directories or {})}
            directories = [known[broker] if broker in known else default(broker) for broker in self.replicas]
            if directories != list(directories_of(before).values()):
                record.directories = directories
        for field, value, old in (
            ("replicas", self.replicas, before.replicas),
            ("removing_replicas", self.removing, before.removing_replicas),
            ("adding_replicas", self.adding, before.adding_replicas),
        ):
            if value != list(old):
                setattr(record, field, value)
        if self.target.recovery not in (None, before.leader_recovery_state):
            record.leader_recovery_state = self.target.recovery

    def has_changes(self) -> bool:
        record = self.record
        lists = (
            record.isr,
            record.eligible_leader_replicas,
            record.last_known_elr,
            record.replicas,
            record.removing_replicas,
            record.adding_replicas,
            record.directories,
        )
        changed = record.leader != NO_LEADER_CHANGE or record.leader_recovery_state != NO_RECOVERY_CHANGE
        return changed or any(each is not None for each in lists)


def _value_or_previous(new: Brokers | None, old: Brokers) -> list[int]:
    return list(old if new is None else new)
