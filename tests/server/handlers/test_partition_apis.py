"""Decisions about partitions, over the bytes of the wire: one node controls three brokers, and is
one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_partition import AlterPartitionRequest
from kafkadouble.messages.generated.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from kafkadouble.messages.generated.assign_replicas_to_dirs import AssignReplicasToDirsRequest
from kafkadouble.messages.generated.elect_leaders import ElectLeadersRequest
from kafkadouble.messages.generated.list_partition_reassignments import ListPartitionReassignmentsRequest
from kafkadouble.server.controller.alter_partition import BROKER_EPOCHS_FROM
from kafkadouble.server.metadata.image import PartitionImage
from tests.server.controller.broker_life import incarnation
from tests.server.controller.small_clusters import directory
from tests.server.handlers.controller_listener import Controllers, versions
from tests.server.topic_requests import creating

TOPIC = "t"
OWN, OTHERS = 1, (2, 3)
SESSION = 9001


def code(response: Any) -> str:
    return error_codes.name(response.error_code)


class Cluster(Controllers):
    """A node and two more brokers, unfenced, and a topic of one partition on these `replicas`."""

    def __init__(self, replicas: Sequence[int] = (1, 2, 3)) -> None:
        super().__init__()
        for broker in OTHERS:
            self.register(broker, log_dirs=[directory(broker)])
            assert not self.beat(broker).is_fenced
        assert self.submit(creating(TOPIC, brokers=replicas), 7).topics[0].error_code == 0

    @property
    def only(self) -> PartitionImage:
        return self.topic(TOPIC).partitions[0]

    def epoch(self, broker: int) -> int:
        return self.image.brokers[broker].epoch

    def alter(self, isr: Sequence[int], version: int = 3, *, leader: int = OWN, **fields: Any) -> Any:
        """The leader reports the in-sync replicas; the answer."""
        of = AlterPartitionRequest
        requested = of.PartitionData(leader_epoch=self.only.leader_epoch, partition_epoch=self.only.partition_epoch)
        if version < BROKER_EPOCHS_FROM:
            requested.new_isr = isr
        else:
            requested.new_isr_with_epochs = [of.BrokerState(broker_id=id, broker_epoch=self.epoch(id)) for id in isr]
        topic = of.TopicData(topic_id=self.image.topic_ids[TOPIC], partitions=[requested])
        arguments = {"broker_epoch": self.epoch(leader), "topics": [topic], **fields}
        return self.submit(of(broker_id=leader, **arguments), version)

    def restart(self, broker: int) -> None:
        """A broker shuts down cleanly, and comes back."""
        assert not self.beat(broker, want_shut_down=True).should_shut_down
        for other in OTHERS:
            if other != broker:
                self.beat(other)
        assert self.beat(broker, want_shut_down=True).should_shut_down
        self.tick(SESSION)
        life: dict[str, Any] = {"incarnation_id": incarnation(2), "previous_broker_epoch": self.epoch(broker)}
        assert code(self.register(broker, log_dirs=[directory(broker)], **life)) == "NONE"
        for each in OTHERS:
            assert not self.beat(each).is_fenced

    def reassign(self, replicas: Sequence[int] | None, version: int = 1, **fields: Any) -> Any:
        of = AlterPartitionReassignmentsRequest
        requested = of.ReassignableTopic(name=TOPIC, partitions=[of.ReassignablePartition(replicas=replicas)])
        return self.submit(of(**{"topics": [requested], **fields}), version)

    def elect(self, kind: int, version: int = 2) -> Any:
        of = ElectLeadersRequest
        requested = [of.TopicPartitions(topic=TOPIC, partitions=[0])]
        return self.submit(of(election_type=kind, topic_partitions=requested), version)

    def moving(self) -> Any:
        return self.submit(ListPartitionReassignmentsRequest(topics=None), 0).topics


@pytest.mark.parametrize("version", versions("AlterPartition"))
def test_the_isr_shrinks_and_grows(version: int) -> None:
    cluster = Cluster()
    for isr, epoch in (([1, 2], 1), ([1, 2, 3], 2)):
        [answered] = cluster.alter(isr, version).topics[0].partitions
        assert (code(answered), answered.isr, answered.partition_epoch) == ("NONE", tuple(isr), epoch)
        assert cluster.only.isr == tuple(isr)


def test_an_empty_request() -> None:
    cluster = Cluster()
    assert code(cluster.alter([1], broker_epoch=0, topics=[])) == "NONE"
    assert code(cluster.reassign(None, topics=[])) == "NONE"


@pytest.mark.parametrize("version", versions("AlterPartitionReassignments"))
def test_replicas_move(version: int) -> None:
    cluster = Cluster([1, 2])
    answered = cluster.reassign([3, 1], version)
    assert (code(answered), code(answered.responses[0].partitions[0])) == ("NONE", "NONE")
    [topic] = cluster.moving()
    [partition] = topic.partitions
    assert (topic.name, partition.replicas) == (TOPIC, (3, 1, 2))
    assert (partition.adding_replicas, partition.removing_replicas) == ((3,), (2,))
    [answered] = cluster.alter([1, 2, 3]).topics[0].partitions
    assert (code(answered), answered.isr, answered.leader_epoch) == ("NONE", (1, 3), 1)
    assert (cluster.only.replicas, cluster.moving()) == ((3, 1), [])


def test_reassignment_is_cancelled() -> None:
    cluster = Cluster([1, 2])
    cluster.reassign([3, 1])
    assert code(cluster.reassign(None).responses[0].partitions[0]) == "NONE"
    assert (cluster.only.replicas, cluster.moving()) == ((1, 2), [])
    assert code(cluster.reassign(None).responses[0].partitions[0]) == "NO_REASSIGNMENT_IN_PROGRESS"


@pytest.mark.parametrize("version", versions("ElectLeaders"))
def test_the_preferred_leader_comes_back(version: int) -> None:
    cluster = Cluster([2, 1])
    cluster.restart(2)
    assert (cluster.only.leader, cluster.only.isr) == (1, (1,))
    [answered] = cluster.elect(0, version).replica_election_results[0].partition_result
    assert code(answered) == "PREFERRED_LEADER_NOT_AVAILABLE"
    assert code(cluster.alter([1, 2]).topics[0].partitions[0]) == "NONE"
    [answered] = cluster.elect(0, version).replica_election_results[0].partition_result
    assert (code(answered), answered.error_message) == ("NONE", None)
    assert cluster.only.leader == 2


def test_an_unclean_leader_is_elected() -> None:
    cluster = Cluster([2, 1])
    cluster.alter([2], leader=2)
    for _ in range(2):
        cluster.beat(2, want_shut_down=True)
    assert (cluster.only.leader, cluster.only.isr) == (-1, ())
    [answered] = cluster.elect(1).replica_election_results[0].partition_result
    assert code(answered) == "NONE"
    assert (cluster.only.leader, cluster.only.isr, cluster.only.leader_recovery_state) == (1, (1,), 1)


def test_log_directory_of_a_replica_is_described() -> None:
    cluster = Cluster([2, 1])
    of = AssignReplicasToDirsRequest
    topic = of.TopicData(topic_id=cluster.image.topic_ids[TOPIC], partitions=[of.PartitionData(partition_index=0)])

    def assign(**fields: Any) -> Any:
        requested = [of.DirectoryData(id=directory(2, 5), topics=[topic])]
        return cluster.submit(
            of(broker_id=2, **{"broker_epoch": cluster.epoch(2), "directories": requested, **fields}), 0
        )

    answered = assign()
    assert (code(answered), answered.directories[0].id) == ("NONE", directory(2, 5))
    assert code(answered.directories[0].topics[0].partitions[0]) == "NONE"
    assert cluster.only.directories[0] == directory(2, 5)
    assert cluster.only.leader == 1, "2 has no such directory"
    assert code(assign(broker_epoch=0)) == "STALE_BROKER_EPOCH"


def test_leaders_are_balanced_after_a_while() -> None:
    cluster = Cluster([2, 1])
    cluster.restart(2)
    cluster.alter([1, 2])
    assert cluster.only.leader == 1
    for _ in range(301):
        cluster.tick(1000)
        for broker in OTHERS:
            cluster.beat(broker)
    assert cluster.only.leader == 2
