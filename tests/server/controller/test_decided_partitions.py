"""Random clusters and random decisions, one after the other: invariants of every partition.

A record can be replayed; it is about an existing partition, and changes something. A leader is in
sync and was alive; a partition is leaderless only if no replica could lead. In-sync replicas are
replicas, and not in the ELR. The partition epoch rises by one with each record; the leader epoch by
one with a new leader or a removed replica, and otherwise not at all. A reassignment that could
complete has completed, unless only an election made that possible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest

from kafkadouble.messages.generated.alter_partition import AlterPartitionRequest
from kafkadouble.messages.generated.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from kafkadouble.messages.generated.assign_replicas_to_dirs import AssignReplicasToDirsRequest
from kafkadouble.messages.generated.config_record import ConfigRecord
from kafkadouble.messages.generated.elect_leaders import ElectLeadersRequest
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.controller import broker_changes, elections
from kafkadouble.server.controller.alter_partition import alter_partition
from kafkadouble.server.controller.assign_replicas_to_dirs import assign_replicas_to_dirs
from kafkadouble.server.controller.bootstrap import broker_record
from kafkadouble.server.controller.leader_election import NO_LEADER
from kafkadouble.server.controller.partition_change_builder import RECOVERED, RECOVERING
from kafkadouble.server.controller.partition_reassignment_replicas import PartitionReassignmentReplicas
from kafkadouble.server.controller.partition_reassignments import alter_partition_reassignments
from kafkadouble.server.controller.replica_placement import partition_record, place_replicas
from kafkadouble.server.metadata.image import TOPIC, BrokerImage, Endpoint, Image, PartitionImage
from kafkadouble.server.metadata.log_dir_ids import LOST, directories_of, is_online
from kafkadouble.server.metadata.replay import replay
from kafkadouble.server.metadata.replay_topics import NO_LEADER_CHANGE
from kafkadouble.server.requests.slices import in_one_step
from tests.server.controller.small_clusters import cluster, directory, with_topic

STEPS = 150
UNCLEAN = "unclean.leader.election.enable"
BROKERS = range(1, 6)

AT = Endpoint("PLAINTEXT", "h", 1, 0)


class Story:
    """What happens to a cluster; `image` is what came of it."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.elr = self.chance.random() < 0.7
        level = 33 if self.elr else self.chance.choice([11, 16, 22, 33])
        self.bumps_with_shrink = level < 12
        self.settings = Settings(
            {
                "min.insync.replicas": self.chance.randint(1, 3),
                UNCLEAN: self.chance.random() < 0.3,
            }
        )
        self.image = cluster(*BROKERS, directories=2 if level >= 17 else 0, level=level, elr=int(self.elr))
        self.happened: Counter[str] = Counter()
        self.lives = 1000
        for name in "abc":
            rows = place_replicas(self.image, 0, 2, self.chance.randint(1, 4))
            made = [partition_record(self.image, Uuid.ZERO, 0, row) for row in rows]
            for record in made if level < 17 else ():
                record.directories = ()
            unclean = self.chance.choice(["true", "false"])
            self.image = with_topic(self.image, name, *made, unclean_leader_election_enable=unclean)

    def go_on(self) -> None:
        """One thing more happens, if it can."""
        what: Callable[[Story], None] = self.chance.choice(EVENTS)
        what(self)

    def write(self, what: str, records: Sequence[Any], *, settled: bool = True) -> None:
        """These records are written, one after the other."""
        for record in records:
            before = self.image
            self.image = replay(before, record)
            if isinstance(record, PartitionChangeRecord):
                self.happened[what] += 1
                check_change(before, record, self.image, bumps_with_shrink=self.bumps_with_shrink)
        for partition in partitions(self.image) if settled else ():
            check_partition(self.image, partition, elr=self.elr)

    def broker(self, which: Callable[[BrokerImage], bool]) -> BrokerImage | None:
        found = [broker for _, broker in sorted(self.image.brokers.items()) if which(broker)]
        return self.chance.choice(found) if found else None

    def place(self) -> tuple[str, int, PartitionImage]:
        name = self.chance.choice("abc")
        topic = self.image.topics[self.image.topic_ids[name]]
        index = self.chance.choice(sorted(topic.partitions))
        return name, index, topic.partitions[index]

    def is_fenced(self) -> None:
        if broker := self.broker(lambda broker: not broker.fenced):
            self.write("fenced", broker_changes.handle_broker_fenced(self.image, broker.id, self.settings))

    def is_unfenced(self) -> None:
        if broker := self.broker(lambda broker: broker.fenced and not broker.in_controlled_shutdown):
            self.write("unfenced", broker_changes.handle_broker_unfenced(self.image, broker.id, self.settings))

    def stops(self) -> None:
        if broker := self.broker(lambda broker: not broker.fenced):
            self.write(
                "stopped", broker_changes.handle_broker_in_controlled_shutdown(self.image, broker.id, self.settings)
            )

    def restarts(self) -> None:
        id = self.chance.choice(BROKERS)
        clean = self.chance.random() < 0.5
        change = broker_changes.handle_clean_broker_shutdown if clean else broker_changes.handle_unclean_broker_shutdown
        log_dirs = [directory(id, number) for number in range(2)] if self.image.brokers[1].log_dirs else []
        self.lives += 1
        made = broker_record(id, Uuid.ZERO, [AT], epoch=self.lives, rack=None, log_dirs=log_dirs)
        records = [*change(self.image, id, self.settings), made]
        self.write("clean restart" if clean else "unclean restart", records)

    def loses_a_directory(self) -> None:
        if broker := self.broker(lambda broker: len(broker.log_dirs) > 1):
            failed = [self.chance.choice(broker.log_dirs)]
            records = broker_changes.handle_directories_offline(self.image, broker.id, self.settings, failed)
            self.write("directory failed", records)

    def assigns_directories(self) -> None:
        name, index, partition = self.place()
        broker = self.image.brokers[self.chance.choice(partition.replicas)]
        if not broker.log_dirs:
            return
        of = AssignReplicasToDirsRequest
        where = self.chance.choice([*broker.log_dirs, *broker.log_dirs, LOST])
        partitions = [of.PartitionData(partition_index=index)]
        topics = [of.TopicData(topic_id=self.image.topic_ids[name], partitions=partitions)]
        request = of(
            broker_id=broker.id, broker_epoch=broker.epoch, directories=[of.DirectoryData(id=where, topics=topics)]
        )
        records = [*assign_replicas_to_dirs(self.image, self.settings, request).records]
        self.write("directory assigned", records, settled=False)
        self.balances()  # what lay nowhere and now can be led has no leader until then

    def allows_unclean_elections(self) -> None:
        name, value = self.chance.choice("abc"), self.chance.choice(["true", "false"])
        record = ConfigRecord(resource_type=TOPIC, resource_name=name, name=UNCLEAN, value=value)
        self.image = replay(self.image, record)

    def alters_in_sync_replicas(self) -> None:
        name, index, partition = self.place()
        others = [id for id in partition.replicas if id != partition.leader]
        isr = [*self.chance.sample(others, self.chance.randint(0, len(others))), partition.leader]
        if partition.leader == NO_LEADER:
            return
        of = AlterPartitionRequest
        recovery = RECOVERED if len(isr) > 1 else self.chance.choice([RECOVERED, RECOVERING])
        requested = of.PartitionData(
            partition_index=index,
            leader_epoch=partition.leader_epoch,
            partition_epoch=partition.partition_epoch,
            new_isr=isr,
            leader_recovery_state=recovery,
        )
        topic = of.TopicData(topic_id=self.image.topic_ids[name], partitions=[requested])
        epoch = self.image.brokers[partition.leader].epoch
        request = of(broker_id=partition.leader, broker_epoch=epoch, topics=[topic])
        self.write("in sync", alter_partition(self.image, self.settings, request, 2).records)

    def moves(self) -> None:
        name, index, partition = self.place()
        replicas: list[int] | None = self.chance.sample(BROKERS, self.chance.randint(1, 4))
        if partition.adding_replicas and self.chance.random() < 0.5:
            replicas = None
        of = AlterPartitionReassignmentsRequest
        requested = of.ReassignablePartition(partition_index=index, replicas=replicas)
        request = of(topics=[of.ReassignableTopic(name=name, partitions=[requested])])
        records = in_one_step(alter_partition_reassignments(self.image, self.settings, request)).records
        self.write("moved" if replicas else "cancelled", records)

    def elects(self) -> None:
        name, index, _ = self.place()
        kind = self.chance.randrange(2)
        of = ElectLeadersRequest
        requested = [of.TopicPartitions(topic=name, partitions=[index])]
        request = of(election_type=kind, topic_partitions=requested)
        self.write("elected", in_one_step(elections.elect_leaders(self.image, self.settings, request)).records)

    def balances(self) -> None:
        self.write("balanced", elections.balance_partition_leaders(self.image, self.settings))
        assert elections.balance_partition_leaders(self.image, self.settings) == []

    def elects_unclean(self) -> None:
        self.write("unclean", elections.elect_unclean_leaders(self.image, self.settings))
        assert elections.elect_unclean_leaders(self.image, self.settings) == []

    def unregisters(self) -> None:
        """And comes back as another life, fenced."""
        if broker := self.broker(lambda broker: self.chance.random() < 0.3):
            self.write("unregistered", broker_changes.handle_broker_unregistered(self.image, broker.id, self.settings))
            self.lives += 1
            self.image = replay(
                self.image,
                broker_record(broker.id, Uuid.ZERO, [AT], epoch=self.lives, rack=None, log_dirs=list(broker.log_dirs)),
            )


EVENTS = [
    Story.is_fenced, Story.is_unfenced, Story.is_unfenced, Story.stops, Story.restarts, Story.loses_a_directory,
    Story.alters_in_sync_replicas, Story.alters_in_sync_replicas, Story.alters_in_sync_replicas, Story.alters_in_sync_replicas,
    Story.moves, Story.elects, Story.balances, Story.elects_unclean, Story.unregisters, Story.is_unfenced,
    Story.restarts, Story.assigns_directories, Story.assigns_directories, Story.allows_unclean_elections,
    Story.allows_unclean_elections, Story.elects_unclean,
]  # fmt: skip


def partitions(image: Image) -> list[PartitionImage]:
    return [partition for topic in image.topics.values() for partition in topic.partitions.values()]


def check_change(before: Image, record: PartitionChangeRecord, after: Image, *, bumps_with_shrink: bool) -> None:
    """What one record did."""
    old = before.topics[record.topic_id].partitions[record.partition_id]
    new = after.topics[record.topic_id].partitions[record.partition_id]
    assert new.partition_epoch == old.partition_epoch + 1
    assert new._replace(partition_epoch=old.partition_epoch) != old, "the record changes nothing"
    lost = set(old.replicas) - set(new.replicas)
    shrunk = set(old.isr) - set(new.isr)
    due = old.leader != new.leader or lost or (shrunk and bumps_with_shrink)
    assert new.leader_epoch - old.leader_epoch == bool(due)
    assert (record.leader != NO_LEADER_CHANGE) == bool(due)
    if new.leader_recovery_state > old.leader_recovery_state:
        assert new.isr == (new.leader,), "a recovering leader is alone in sync"


def check_partition(image: Image, partition: PartitionImage, *, elr: bool) -> None:
    """What holds at any time."""
    assert len(set(partition.replicas)) == len(partition.replicas) > 0
    assert len(partition.directories) in (0, len(partition.replicas))
    assert set(partition.isr) <= set(partition.replicas)
    assert not set(partition.isr) & set(partition.elr)
    assert partition.leader == NO_LEADER or partition.leader in partition.isr
    assert partition.isr or elr
    assert elr or not (partition.elr or partition.last_known_elr)
    assert partition.leader != NO_LEADER or not any(could_lead(image, partition, broker) for broker in partition.isr)
    under_way = PartitionReassignmentReplicas.of(partition)
    assert set(under_way.adding) | set(under_way.removing) <= set(partition.replicas)
    alone = len(partition.isr) == 1  # elected while out of sync: the next change completes it
    assert under_way.completed(partition.isr) is None or alone


def could_lead(image: Image, partition: PartitionImage, broker: int) -> bool:
    found = image.brokers.get(broker)
    where = directories_of(partition).get(broker, Uuid.ZERO)
    return found is not None and found.active and is_online(where, found.log_dirs)


@pytest.mark.parametrize("seed", range(20))
def test_random_changes_keep_partition_invariants(seed: int) -> None:
    story = Story(seed)
    for _ in range(STEPS):
        story.go_on()


def test_random_partition_changes_cover_every_kind() -> None:
    """A story in which little happens would hold anyway."""
    happened: Counter[str] = Counter()
    for seed in range(20):
        story = Story(seed)
        for _ in range(STEPS):
            story.go_on()
        happened += story.happened
    assert min(happened.values()) >= 3, happened
    assert happened.keys() == {
        "fenced", "unfenced", "stopped", "clean restart", "unclean restart", "directory failed", "in sync", "moved",
        "cancelled", "elected", "balanced", "unclean", "unregistered",
        "directory assigned",
    }  # fmt: skip
