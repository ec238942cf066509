"""Two controllers that get the same random requests of simulated brokers and their replicas: their
answers and their records are the same.

The requests avoid what makes Apache Kafka's controller resign, or change partitions that a request
does not name: topics are not deleted, min.insync.replicas does not change, and partitions without a
leader are not moved. A broker in controlled shutdown stays in it: the end of the shutdown depends
on the heartbeats of the nodes' own brokers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from interop.conftest import SUMMARY_LINE
from kafkadouble.messages.generated.alter_partition import AlterPartitionRequest
from kafkadouble.messages.generated.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from kafkadouble.messages.generated.assign_replicas_to_dirs import AssignReplicasToDirsRequest
from kafkadouble.messages.generated.broker_heartbeat import BrokerHeartbeatRequest
from kafkadouble.messages.generated.broker_registration import BrokerRegistrationRequest
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.describe_cluster import DescribeClusterRequest
from kafkadouble.messages.generated.elect_leaders import ElectLeadersRequest
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.messages.generated.unregister_broker import UnregisterBrokerRequest
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.features import SUPPORTED
from kafkadouble.server.metadata.image import BrokerImage, Image, PartitionImage
from kafkadouble.server.metadata.log_dir_ids import LOST
from kafkadouble.server.metadata.replay import MetadataDelta
from tests.support.client import ask
from tests.support.values import plain

from .brokers import Addresses
from .brokers import controllers as two_controllers
from .written import records, story

pytestmark = pytest.mark.usefixtures("kafka_jars")

BROKERS = (81, 82, 83, 84)
TOPICS, PARTITIONS = 4, 2
STEPS = 80
SEEDS = (1, 2, 3)
UP_TO_DATE = 1_000_000
UNCLEAN = "unclean.leader.election.enable"

Ask = Callable[["Controller"], tuple[Message, int]]


class Controller:
    """One of the two controllers: its ids of topics and its broker epochs."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.cluster_id = ask(address, DescribeClusterRequest(endpoint_type=2), 2).cluster_id
        self.epochs: dict[int, int] = {}
        self.topics: dict[str, Uuid] = {}

    def image(self) -> Image:
        fold = MetadataDelta()
        for record in records(self.address):
            fold.replay(record)
        return fold.image


class Story:
    """The requests to both controllers. `image` is the metadata image after them."""

    def __init__(self, addresses: Addresses, seed: int) -> None:
        self.chance, self.stem = Random(seed), f"random-{seed}-"
        self.both = [Controller(address) for address in addresses]
        self.runs = dict.fromkeys(BROKERS, 10 * seed)
        for broker in BROKERS:
            self.registers(broker)
            self.beats(broker)
        self.names = [f"{self.stem}{number}" for number in range(TOPICS)]
        for name in self.names:
            self.create(name)

    def ask(self, request: Ask, *, hidden: tuple[str, ...] = ()) -> list[Any]:
        """Sends the request to both; their answers must be equal except for the `hidden` fields."""
        answers = [ask(each.address, *request(each)) for each in self.both]
        ours, theirs = (_without(plain(answer), {"errorMessage", *hidden}) for answer in answers)
        assert ours == theirs
        return answers

    def registers(self, broker: int) -> None:
        """Registers the broker with a new incarnation id and two log directories."""
        of = BrokerRegistrationRequest
        self.runs[broker] += 1
        run = self.runs[broker]
        body = of(
            broker_id=broker,
            incarnation_id=Uuid(bytes([broker, run]) * 8),
            log_dirs=[Uuid(bytes([200, broker, run, number]) * 4) for number in range(2)],
            listeners=[of.Listener(name="PLAINTEXT", host="127.0.0.1", port=9)],
            features=[
                of.Feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in SUPPORTED.items()
            ],
        )

        def request(of_one: Controller) -> tuple[Message, int]:
            body.cluster_id = of_one.cluster_id
            return body, 4

        for each, answer in zip(self.both, self.ask(request, hidden=("brokerEpoch",)), strict=True):
            each.epochs[broker] = answer.broker_epoch

    def beats(self, broker: int, *, offset: int = UP_TO_DATE, **fields: Any) -> None:
        of = BrokerHeartbeatRequest
        self.ask(
            lambda one: (
                of(broker_id=broker, broker_epoch=one.epochs[broker], current_metadata_offset=offset, **fields),
                2,
            )
        )

    def create(self, name: str) -> None:
        of, replicas = CreateTopicsRequest, self.chance.randint(1, 3)
        assignments = [
            of.CreatableReplicaAssignment(partition_index=index, broker_ids=self.chance.sample(BROKERS, replicas))
            for index in range(PARTITIONS)
        ]
        values = {"min.insync.replicas": str(self.chance.randint(1, 3)), UNCLEAN: self.chance.choice(["true", "false"])}
        configs = [of.CreatableTopicConfig(name=key, value=value) for key, value in values.items()]
        topic = of.CreatableTopic(
            name=name, num_partitions=-1, replication_factor=-1, assignments=assignments, configs=configs
        )
        answers = self.ask(lambda _: (of(topics=[topic], timeout_ms=5000), 7), hidden=("topicId",))
        for each, answer in zip(self.both, answers, strict=True):
            each.topics[name] = answer.topics[0].topic_id

    def go_on(self) -> None:
        """Every broker sends a heartbeat, and one random change is made, if it is possible."""
        self.image = self.both[0].image()
        self.active = [id for id in BROKERS if self.image.brokers[id].active]
        for id in BROKERS:
            if id in self.active:
                self.beats(id, offset=0)
            elif not self.image.brokers[id].fenced:
                self.beats(id, want_shut_down=True)
        self.broker = self.image.brokers[self.chance.choice(BROKERS)]
        self.name, self.index = self.chance.choice(self.names), self.chance.randrange(PARTITIONS)
        happens: Callable[[Story], None] = self.chance.choice(EVENTS)
        happens(self)

    @property
    def partition(self) -> PartitionImage:
        return self.image.topics[self.image.topic_ids[self.name]].partitions[self.index]

    def _may_go(self, broker: BrokerImage) -> bool:
        return not broker.in_controlled_shutdown and len({*self.active} - {broker.id}) > 1

    def is_fenced(self) -> None:
        if self._may_go(self.broker):
            self.beats(self.broker.id, want_fence=True)

    def is_unfenced(self) -> None:
        if not self.broker.in_controlled_shutdown:
            self.beats(self.broker.id)

    def stops(self) -> None:
        if self._may_go(self.broker):
            self.beats(self.broker.id, want_shut_down=True)

    def restarts(self) -> None:
        if len({*self.active} - {self.broker.id}) > 1:
            self.ask(lambda _: (UnregisterBrokerRequest(broker_id=self.broker.id), 0))
            self.registers(self.broker.id)
            if self.chance.random() < 0.7:
                self.beats(self.broker.id)

    def loses_a_directory(self) -> None:
        if len(self.broker.log_dirs) > 1 and not self.broker.in_controlled_shutdown:
            self.beats(self.broker.id, offline_log_dirs=[self.chance.choice(self.broker.log_dirs)])

    def assigns_directories(self) -> None:
        of, id = AssignReplicasToDirsRequest, self.broker.id
        where = self.chance.choice([*self.broker.log_dirs, *self.broker.log_dirs, LOST])
        which = [of.PartitionData(partition_index=index) for index in range(PARTITIONS)]

        def request(one: Controller) -> tuple[Message, int]:
            topics = [of.TopicData(topic_id=one.topics[self.name], partitions=which)]
            directories = [of.DirectoryData(id=where, topics=topics)]
            return of(broker_id=id, broker_epoch=one.epochs[id], directories=directories), 0

        self.ask(request, hidden=("topicId",))

    def alters_the_isr(self) -> None:
        of, found = AlterPartitionRequest, self.partition
        if found.leader < 0:
            return
        others = [id for id in found.replicas if id != found.leader]
        isr = [*self.chance.sample(others, self.chance.randint(0, len(others))), found.leader]
        if self.chance.random() < 0.5:
            isr = [id for id in found.replicas if id == found.leader or id in self.active]
        recovery = 0 if len(isr) > 1 else found.leader_recovery_state

        def request(one: Controller) -> tuple[Message, int]:
            partition = of.PartitionData(
                partition_index=self.index,
                leader_epoch=found.leader_epoch,
                partition_epoch=found.partition_epoch,
                leader_recovery_state=recovery,
                new_isr_with_epochs=[of.BrokerState(broker_id=id, broker_epoch=one.epochs[id]) for id in isr],
            )
            topics = [of.TopicData(topic_id=one.topics[self.name], partitions=[partition])]
            return of(broker_id=found.leader, broker_epoch=one.epochs[found.leader], topics=topics), 3

        self.ask(request, hidden=("topicId",))

    def moves(self) -> None:
        self._reassign(self.chance.sample(BROKERS, self.chance.randint(1, 3)))

    def goes_back(self) -> None:
        self._reassign(None)

    def _reassign(self, replicas: list[int] | None) -> None:
        of = AlterPartitionReassignmentsRequest
        if not self.partition.last_known_elr:
            partition = of.ReassignablePartition(partition_index=self.index, replicas=replicas)
            topic = of.ReassignableTopic(name=self.name, partitions=[partition])
            self.ask(lambda _: (of(topics=[topic], timeout_ms=5000), 1))

    def is_elected(self) -> None:
        of, kind = ElectLeadersRequest, self.chance.randrange(2)
        topic_partitions = [of.TopicPartitions(topic=self.name, partitions=[self.index])]
        self.ask(lambda _: (of(election_type=kind, topic_partitions=topic_partitions), 2))

    def is_configured(self) -> None:
        of = IncrementalAlterConfigsRequest
        config = of.AlterableConfig(name=UNCLEAN, config_operation=0, value=self.chance.choice(["true", "false"]))
        resource = of.AlterConfigsResource(resource_type=2, resource_name=self.name, configs=[config])
        self.ask(lambda _: (of(resources=[resource]), 1))


EVENTS = (
    Story.is_fenced, Story.is_unfenced, Story.is_unfenced, Story.stops, Story.restarts, Story.loses_a_directory,
    Story.assigns_directories, Story.assigns_directories, Story.alters_the_isr,
    Story.alters_the_isr, Story.alters_the_isr, Story.alters_the_isr, Story.alters_the_isr,
    Story.moves, Story.moves, Story.goes_back, Story.is_elected, Story.is_configured,
)  # fmt: skip


def _without(value: Any, names: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without(each, names) for key, each in value.items() if key not in names}
    return [_without(each, names) for each in value] if isinstance(value, list) else value


@pytest.fixture
def controllers(tmp_path: Path) -> Iterator[Addresses]:
    """New controllers for each try, since an earlier one may have stopped anywhere."""
    with two_controllers(tmp_path) as found:
        yield found


@pytest.mark.timeout(400)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_requests_leave_the_same_partition(
    controllers: Addresses, seed: int, record_property: Callable[[str, object], None]
) -> None:
    print(f"seed {seed}")
    happened = Story(controllers, seed)
    for _ in range(STEPS):
        happened.go_on()
    ours, theirs = (story(address, happened.stem, BROKERS) for address in controllers)
    assert ours == theirs
    record_property(SUMMARY_LINE, f"{sum(map(len, ours.values()))} records at random")
    for broker in BROKERS:
        happened.ask(lambda _: (UnregisterBrokerRequest(broker_id=broker), 0))  # noqa: B023  # at once
