"""What a partition is to become, as the record that makes it so: one place where every change to a partition is worked out.

Rules, in Kafka's order. A reassignment that can end ends. While fewer than min.insync.replicas are in sync, those that leave the in-sync
replicas stay eligible (KIP-966); with enough in sync nobody else is. Then a leader is elected, also when nobody asked for it: one that is no
longer in sync cannot go on. An unclean election leaves the new leader alone in sync, and recovering (KIP-704). The leader epoch goes up with a
new leader, and when a replica is taken away; before metadata.version 3.6 also when one falls out of sync. Without the feature of eligible
leader replicas the last one in sync stays so, alive or not. This file knows one partition; who may lead, and what its topic allows, it is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.messages.uuid import Uuid

from ..metadata.fold_topics import NO_LEADER_CHANGE, NO_RECOVERY_CHANGE
from ..metadata.image import PartitionImage
from ..metadata.log_dir_ids import directories_of
from .leader_election import NO_LEADER, Election, LeaderCandidates, elect
from .partition_reassignment_replicas import PartitionReassignmentReplicas

RECOVERED, RECOVERING = 0, 1
"""LeaderRecoveryState (KIP-704)."""

Brokers = Sequence[int]


class PartitionTarget(NamedTuple):
    """What is to become of a partition; None leaves it as it is."""

    isr: Brokers | None = None
    replicas: Brokers | None = None
    adding: Brokers | None = None
    removing: Brokers | None = None
    election: Election = Election.ONLINE
    recovery: int | None = None
    directories: Mapping[int, Uuid] | None = None
    unclean_shutdown_replica: int | None = None
    """A broker that came back from an unclean shutdown: what it had in sync it may have lost."""


class PartitionChangeRules(NamedTuple):
    """What changes to the partitions of one topic go by."""

    may_lead: Callable[[PartitionImage, int], bool]
    min_isr: int
    elr: bool
    epoch_with_shrink: bool
    default_directory: Callable[[int], Uuid] | None
    """The directory of a new replica on a broker. None: metadata.version knows no directories."""


def build_partition_change(
    partition: PartitionImage, topic_id: Uuid, index: int, target: PartitionTarget, rules: PartitionChangeRules
) -> PartitionChangeRecord | None:
    """The record that grants the wish, as far as it can be granted. None when there is nothing to change."""
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
    """A change on its way: what was, what is to be, and the record so far."""

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
        """Naming the same leader again is a new epoch of it."""
        fewer_replicas = not set(self.before.replicas) <= set(self.replicas)
        isr = self.record.isr
        shrunk = isr is not None and not set(self.before.isr) <= set(isr)
        if self.record.leader == NO_LEADER_CHANGE and (fewer_replicas or (shrunk and self.rules.epoch_with_shrink)):
            self.record.leader = self.before.leader

    def update_last_known_leader(self) -> None:
        """Who led last is kept, in the place of KIP-966's last known eligible replicas, until somebody leads again."""
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


def _value_or_previous(wanted: Brokers | None, old: Brokers) -> list[int]:
    return list(old if wanted is None else wanted)
