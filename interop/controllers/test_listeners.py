"""Several listeners: a real broker and one of ours in one cluster of our controller.

Both replicate on one listener, advertise a second, and do not advertise a third. On each of them
both give clients the same answers.

    pytest interop/controllers/test_listeners.py --broker local
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from interop.clients import CREATOR
from interop.clients.shape import Record
from interop.support import create_topic
from kafkadouble.messages.generated.describe_cluster import DescribeClusterRequest
from kafkadouble.messages.generated.describe_topic_partitions import DescribeTopicPartitionsRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.message import Message
from kafkadouble.records.seeding import batch_of
from tests.support.client import ask
from tests.support.ports import HOST, free_ports
from tests.support.waiting import eventually

from . import admin
from .kinds import DOUBLE, Kafka, Kind
from .mixed import Mixed, mixed
from .plan import broker, controller

pytestmark = pytest.mark.timeout(600)

TOPIC, PARTITIONS = "t", 4
EXTERNAL, HIDDEN = "EXTERNAL", "HIDDEN"


class Listeners(NamedTuple):
    """The cluster, and where each listener of its brokers is, by name: the real one's, and ours."""

    cluster: Mixed
    at: dict[str, tuple[str, str]]


@pytest.fixture(scope="module")
def listeners(ours: Kind, real: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listeners]:
    members = [controller(0, ours), broker(0, real), broker(1, DOUBLE)]
    with mixed(tmp_path_factory.mktemp("listeners"), *members, running=False) as cluster:
        found: dict[str, list[str]] = {"PLAINTEXT": [], EXTERNAL: [], HIDDEN: []}
        for node in cluster.brokers:
            external, hidden = (f"{HOST}:{port}" for port in free_ports(2))
            advertised = f"PLAINTEXT://{node.bootstrap},{EXTERNAL}://{external}"
            node.configure(
                listeners=f"{advertised},{HIDDEN}://{hidden}",
                advertised_listeners=advertised,
                listener_security_protocol_map=",".join(f"{name}:PLAINTEXT" for name in ("CONTROLLER", *found)),
                inter_broker_listener_name="PLAINTEXT",
            )
            for name, address in zip(found, (node.bootstrap, external, hidden), strict=True):
                found[name].append(address)
        cluster.start()
        eventually(lambda: admin.registered(cluster.bootstrap), lambda known: known == {1: False, 2: False})
        create_topic(cluster.bootstrap, TOPIC, PARTITIONS, {"min.insync.replicas": "2"}, replication=2)
        at = {name: (of_theirs, of_ours) for name, (of_theirs, of_ours) in found.items()}
        request = FindCoordinatorRequest(coordinator_keys=["g"])
        for address in at[EXTERNAL]:
            eventually(lambda: ask(address, request, 4).coordinators[0].error_code, lambda code: not code)  # noqa: B023
        yield Listeners(cluster, at)


def metadata(version: int) -> tuple[Message, int]:
    return MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=TOPIC)]), version


REQUESTS = [
    *(metadata(version) for version in (0, 1, 5, 6, 12)),
    (DescribeClusterRequest(), 1),
    (FindCoordinatorRequest(coordinator_keys=["g", "h", "i"]), 4),
    (DescribeTopicPartitionsRequest(topics=[DescribeTopicPartitionsRequest.TopicRequest(name=TOPIC)]), 0),
]


def answered(address: str, body: Message, version: int) -> Message:
    """The answer, in order, and without the controller: any broker may stand for it."""
    response = ask(address, body, version)
    if hasattr(response, "controller_id"):
        response.controller_id = -1
    if hasattr(response, "brokers"):
        response.brokers = sorted(response.brokers, key=lambda broker: (broker.host, broker.port))
    for topic in getattr(response, "topics", ()):
        topic.partitions = sorted(topic.partitions, key=lambda each: int(each.partition_index))
    return response  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", ["PLAINTEXT", EXTERNAL, HIDDEN])
@pytest.mark.parametrize("case", REQUESTS, ids=lambda case: f"{type(case[0]).__name__}-{case[1]}")
def test_both_brokers_answer_the_same(listeners: Listeners, name: str, case: tuple[Message, int]) -> None:
    of_theirs, of_ours = (answered(address, *case) for address in listeners.at[name])
    assert of_ours == of_theirs


@pytest.mark.parametrize("name", ["PLAINTEXT", EXTERNAL])
def test_a_client_is_only_given_addresses_of_its_listener(listeners: Listeners, name: str) -> None:
    for address in listeners.at[name]:
        brokers = ask(address, *metadata(12)).brokers
        assert {f"{broker.host}:{broker.port}" for broker in brokers} == set(listeners.at[name])


def test_records_go_in_and_out_on_one_listener_and_are_replicated_on_another(listeners: Listeners) -> None:
    address, values = listeners.at[EXTERNAL][0], [b"%d" % number for number in range(40)]
    with CREATOR.producer(address, acks="all") as producer:
        producer.send(TOPIC, [Record(value, partition=int(value) % PARTITIONS) for value in values])
    with CREATOR.consumer(address, [TOPIC], group_id="g") as consumer:
        assert {seen.value for seen in consumer.read(40)} == {*values}


def test_the_address_of_a_leader_is_that_on_the_listener(listeners: Listeners) -> None:
    """KIP-951. Each broker leads some of the partitions; for the others it names the other broker,
    and its address."""
    of, records = ProduceRequest, bytes(batch_of(b"v", None, (), 1_700_000_000_000))
    partitions = [of.PartitionProduceData(index=index, records=records) for index in range(PARTITIONS)]
    body = of(acks=1, timeout_ms=1000, topic_data=[of.TopicProduceData(name=TOPIC, partition_data=partitions)])
    for name in (EXTERNAL, HIDDEN):
        for here, there in (listeners.at[name], listeners.at[name][::-1]):
            endpoints = ask(here, body, 12).node_endpoints
            assert [f"{each.host}:{each.port}" for each in endpoints] == ([there] if name == EXTERNAL else [])
