"""Several listeners: a client that begins at one of them is only ever given addresses of that
one."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.support.client import ask
from tests.support.serving import serving

confluent_kafka = pytest.importorskip("confluent_kafka")
kafka_python = pytest.importorskip("kafka")

PATIENCE_S = 30
TWO = {"INTERNAL": 0, "EXTERNAL": 0}
MAP = "listener.security.protocol.map=INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT"
WORDS = "-c", MAP, "-c", "inter.broker.listener.name=INTERNAL"


def addresses(bootstrap: str) -> set[tuple[str, int]]:
    """The addresses of a list of servers."""
    found = (each.rpartition(":") for each in bootstrap.split(","))
    return {(host, int(port)) for host, _, port in found}


def seen_at(address: tuple[str, int]) -> set[tuple[str, int]]:
    """The brokers' addresses in the metadata that are given at this address."""
    return {(broker.host, broker.port) for broker in ask(address, MetadataRequest(topics=[]), 12).brokers}


def coordinator_at(address: tuple[str, int]) -> tuple[str, int]:
    """Asked again while the topic of the coordinators is made."""
    code = error_codes.COORDINATOR_NOT_AVAILABLE
    while code == error_codes.COORDINATOR_NOT_AVAILABLE:
        [found] = ask(address, FindCoordinatorRequest(coordinator_keys=["g"]), 4).coordinators
        code = found.error_code
    return found.host, found.port


@pytest.fixture(scope="module", params=[1, 3])
def kafka(request: pytest.FixtureRequest) -> Iterator[KafkaDouble]:
    with KafkaDouble(listeners=TWO, brokers=request.param) as kafka:
        kafka.create_topic("t", partitions=3, replication_factor=request.param)
        yield kafka


@pytest.mark.parametrize("name", ["INTERNAL", "external"])
def test_metadata_and_coordinators_have_the_addresses_of_the_listener(kafka: KafkaDouble, name: str) -> None:
    expected = addresses(kafka.bootstrap(name))
    for address in expected:
        assert seen_at(address) == expected
        assert coordinator_at(address) in expected


def test_the_first_listener_is_the_one_of_bootstrap_servers(kafka: KafkaDouble) -> None:
    assert kafka.bootstrap_servers == kafka.bootstrap("INTERNAL")
    assert addresses(kafka.bootstrap("INTERNAL")).isdisjoint(addresses(kafka.bootstrap("EXTERNAL")))


def test_confluent_kafka_only_ever_connects_to_its_listener(kafka: KafkaDouble) -> None:
    found: list[dict[str, Any]] = []
    config = {"bootstrap.servers": kafka.bootstrap("EXTERNAL"), "log_level": 0}
    producer = confluent_kafka.Producer(config)
    for number in range(30):
        producer.produce("t", b"%d" % number, partition=number % 3)
    assert producer.flush(PATIENCE_S) == 0
    statistics = {"stats_cb": lambda text: found.append(json.loads(text)), "statistics.interval.ms": 20}
    consumer = confluent_kafka.Consumer({**config, **statistics, "group.id": "g", "auto.offset.reset": "earliest"})
    consumer.subscribe(["t"])
    values: set[bytes] = set()
    while len(values) < 30 or not found:
        values |= {message.value() for message in consumer.consume(30, 0.05)}
    consumer.close()
    names = {each["nodename"] for each in found[-1]["brokers"].values() if each["nodeid"] >= 0}
    assert names == set(kafka.bootstrap("EXTERNAL").split(","))


def test_kafka_python_is_only_ever_given_the_addresses_of_its_listener(kafka: KafkaDouble) -> None:
    expected = addresses(kafka.bootstrap("EXTERNAL"))
    producer = kafka_python.KafkaProducer(bootstrap_servers=kafka.bootstrap("EXTERNAL"))
    for number in range(3):
        producer.send("t", b"v", partition=number).get(PATIENCE_S)
    cluster = producer._metadata
    assert {(broker.host, broker.port) for broker in cluster.brokers()} == expected
    producer.close()
    admin = kafka_python.KafkaAdminClient(bootstrap_servers=kafka.bootstrap("EXTERNAL"))
    assert {(each["host"], each["port"]) for each in admin.describe_cluster()["brokers"]} == expected
    admin.close()


def test_brokers_replicate_on_their_listener_and_clients_read_on_the_other() -> None:
    config = {"inter.broker.listener.name": "EXTERNAL"}
    with KafkaDouble(listeners=TWO, brokers=2, config=config) as kafka:
        kafka.create_topic("t", replication_factor=2, config={"min.insync.replicas": 2})
        producer = confluent_kafka.Producer({"bootstrap.servers": kafka.bootstrap("INTERNAL"), "acks": "all"})
        producer.produce("t", b"v")
        assert producer.flush(PATIENCE_S) == 0
        assert kafka.isr("t", 0) == [1, 2]


def test_addresses_stay_over_resets_restarts_and_the_lives_of_a_broker() -> None:
    kafka = KafkaDouble(listeners=TWO, brokers=2)
    with kafka:
        before = kafka.bootstrap("INTERNAL"), kafka.bootstrap("EXTERNAL")
        kafka.reset()
        assert (kafka.bootstrap("INTERNAL"), kafka.bootstrap("EXTERNAL")) == before
        at = kafka.brokers[2].bootstrap_on("EXTERNAL")
        kafka.brokers[2].stop()
        [refused] = addresses(at)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(refused)
        kafka.brokers[2].start()
        assert kafka.brokers[2].bootstrap_on("EXTERNAL") == at
        assert at in before[1].split(",")
    with kafka:
        assert (kafka.bootstrap("INTERNAL"), kafka.bootstrap("EXTERNAL")) == before


def test_metadata_has_the_advertised_addresses() -> None:
    given = "INTERNAL://:0,EXTERNAL://kafka.example:19092"
    with KafkaDouble(listeners=TWO, brokers=2, config={"advertised.listeners": given}) as kafka:
        assert kafka.bootstrap("EXTERNAL") == "kafka.example:19092,kafka.example:19093"
        inside = addresses(kafka.bootstrap("INTERNAL"))
        assert seen_at(next(iter(inside))) == inside


def test_a_listener_that_there_is_not(kafka: KafkaDouble) -> None:
    with pytest.raises(UsageError, match="there is no listener 'OTHER': there are INTERNAL, EXTERNAL"):
        kafka.bootstrap("OTHER")


class TestServe:
    def test_the_listeners_of_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "server.properties"
        file.write_text(
            "listeners=INTERNAL://:0,EXTERNAL://:0\ninter.broker.listener.name=INTERNAL\n"
            f"advertised.listeners=INTERNAL://:0,EXTERNAL://localhost:0\n{MAP}\n"
        )
        with serving("--config", str(file)) as served:
            lines = served.more_lines(2)
            internal, external = (lines[f"listener.name.{each}.bootstrap.servers"] for each in ("internal", "external"))
            assert served.startup["bootstrap.servers"] == internal
            assert external.startswith("localhost:")
            assert seen_at(*addresses(internal)) == addresses(internal)
            assert seen_at(*addresses(external)) == addresses(external)

    def test_serve_of_several_brokers_with_two_listeners_each(self) -> None:
        with serving(*WORDS, "--brokers", "2", "-c", "listeners=INTERNAL://:0,EXTERNAL://:0") as served:
            lines = served.more_lines(2)
            external = addresses(lines["listener.name.external.bootstrap.servers"])
            assert len(external) == 2
            for address in external:
                assert seen_at(address) == external

    def test_an_address_for_clients_of_several_brokers(self) -> None:
        with serving("--brokers", "2", "--advertised", "kafka.example:19092") as served:
            assert served.startup["bootstrap.servers"] == "kafka.example:19092,kafka.example:19093"

    def test_an_advertised_port_of_0_is_the_port_of_each_broker(self) -> None:
        with serving("--brokers", "2", "--advertised", "localhost:0") as served:
            found = addresses(served.startup["bootstrap.servers"])
            assert len(found) == 2
            for address in found:
                assert seen_at(address) == found
