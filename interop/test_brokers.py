"""The suite's own parts: the settings of nodes here and in containers, how a broker is identified,
and the reasons why tests are skipped."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interop import quorum
from interop.brokers import KINDS, Broker, BrokerRequirements, Unavailable, kind_of
from interop.brokers.broker import seen
from interop.brokers.container import DATA, alias, environment, prepared, seats
from interop.local import VERSION, cluster, jars
from interop.local.identity import Identity, identity
from interop.quorum import BROKERS, CLIENTS, CONTROLLER

THREE = seats("docker.host", [29001, 29002, 29003])


def test_nodes_of_one_machine_find_one_another_by_the_addresses_of_clients() -> None:
    places = [
        quorum.Seat(number, roles, where, where)
        for number, roles in quorum.roles(2, 1)
        for where in [{CONTROLLER: ("h", 9000)} if roles == ("controller",) else {CLIENTS: ("h", 9000 + number)}]
    ]
    controller, broker, _ = (quorum.settings(seat, places, "data") for seat in places)
    assert controller["listeners"] == "CONTROLLER://h:9000"
    assert "advertised.listeners" not in controller  # Kafka refuses it on a controller
    assert {one["controller.quorum.voters"] for one in (controller, broker)} == {"3000@h:9000"}
    assert (broker["process.roles"], broker["listeners"]) == ("broker", "PLAINTEXT://h:9001")
    assert broker["inter.broker.listener.name"] == CLIENTS
    assert broker["offsets.topic.replication.factor"] == "2"
    assert quorum.bootstrap(places) == "h:9001,h:9002"


@pytest.mark.parametrize(("brokers", "controllers"), [(0, 0), (4, 0), (1, 4), (1, -1)])
def test_clusters_of_other_sizes_are_not_provided_for(brokers: int, controllers: int) -> None:
    with pytest.raises(ValueError, match="1 to 3"):
        quorum.roles(brokers, controllers)


def test_a_cluster_id_is_never_taken_for_an_option() -> None:
    assert all(re.fullmatch("[A-Za-z0-9_][A-Za-z0-9_-]{21}", quorum.cluster_id()) for _ in range(500))


def test_containers_listen_everywhere_and_are_known_by_the_host_to_clients_and_by_name_to_one_another() -> None:
    settings = [quorum.settings(seat, THREE, DATA) for seat in THREE]
    assert {one["listeners"] for one in settings} == {"PLAINTEXT://:9092,CONTROLLER://:9093,BROKERS://:19092"}
    assert settings[1]["advertised.listeners"] == "PLAINTEXT://docker.host:29002,BROKERS://kafka-2:19092"
    assert {one["inter.broker.listener.name"] for one in settings} == {BROKERS}
    assert {one["controller.quorum.voters"] for one in settings} == {"1@kafka-1:9093,2@kafka-2:9093,3@kafka-3:9093"}
    assert settings[0]["listener.security.protocol.map"] == "CONTROLLER:PLAINTEXT,BROKERS:PLAINTEXT,PLAINTEXT:PLAINTEXT"


def _read_as_the_image_does(variables: dict[str, str]) -> dict[str, str]:
    """Reads names as the image does: a single underline is a dot, two are an underline, three are a
    dash."""
    found = {}
    for key, value in variables.items():
        if key.startswith("KAFKA_"):
            name = key.removeprefix("KAFKA_").lower().replace("_", ".").replace("...", "-").replace("..", "_")
            found[name] = value
    return found


@pytest.mark.parametrize("count", [1, 3])
def test_the_image_reads_the_settings_that_a_node_of_this_machine_has(count: int) -> None:
    places = seats("h", range(29001, 29001 + count))
    settings = quorum.settings(places[0], places, DATA) | {"a-b.c_d": "kept"}
    variables = environment(settings, "id")
    assert variables["CLUSTER_ID"] == "id"
    assert _read_as_the_image_does(variables) == settings


class Recorded:
    """Records the calls that configure a container of testcontainers before it starts."""

    def __init__(self) -> None:
        self.env: dict[str, str] = {}
        self.ports: dict[int, int] = {}
        self.aliases: tuple[str, ...] = ()

    def with_env(self, key: str, value: str) -> Recorded:
        self.env[key] = value
        return self

    def with_bind_ports(self, container: int, host: int) -> Recorded:
        self.ports[container] = host
        return self

    def with_network_aliases(self, *aliases: str) -> Recorded:
        self.aliases = aliases
        return self


def test_a_container_is_given_its_settings_its_port_and_its_name() -> None:
    made = prepared(Recorded(), THREE[2], THREE, "id")
    assert made.ports == {9092: 29003}
    assert made.aliases == (alias(3),)
    assert (made.env["KAFKA_NODE_ID"], made.env["CLUSTER_ID"]) == ("3", "id")


def test_testcontainer_of_kafka_takes_its_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uses the package's own class, with no engine behind it."""
    module: Any = pytest.importorskip("testcontainers.core.container")
    monkeypatch.setattr(module, "DockerClient", lambda **_: None)
    made = prepared(module.DockerContainer("apache/kafka:4.4.0"), THREE[0], THREE, "id").with_network(None)
    assert made.ports == {"9092": 29001}
    assert made.env["KAFKA_PROCESS_ROLES"] == "broker,controller"


def test_broker_option_names_a_kind_or_an_address() -> None:
    assert kind_of("double") is KINDS["double"]
    assert kind_of("10.0.0.1:9092").kept
    for word in ("", "doubles", "host", "host:", ":9092", "host:port"):
        with pytest.raises(ValueError, match="--broker"):
            kind_of(word)


def test_a_named_broker_that_is_not_there_is_an_error_and_no_reason_to_skip() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(OSError, match="refused"), kind_of(f"127.0.0.1:{port}").opened(BrokerRequirements(VERSION)):
        pass


@pytest.fixture
def stranger() -> Iterator[int]:
    """The port of a server that answers as web servers do."""
    with socket.create_server(("127.0.0.1", 0)) as door:

        def answer() -> None:
            line, _ = door.accept()
            with line:
                line.recv(1000)
                line.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield door.getsockname()[1]
        thread.join(10)


def test_a_stranger_is_no_broker(stranger: int) -> None:
    with pytest.raises(ValueError, match="does not answer as a Kafka broker does"):
        identity("127.0.0.1", stranger)


def test_capabilities_follow_from_the_answers_of_a_broker() -> None:
    old, new = Identity("id", 1, {1: (0, 17)}), Identity("id", 3, {1: (4, 18)})
    assert seen("localhost:9092", old) == set()
    assert seen("localhost:9092", new) == {"kafka_4", "three_brokers"}


def test_a_broker_reports_what_it_lacks() -> None:
    broker = Broker("some broker", "h:1", frozenset({"own"}))
    assert broker.lacks("own") == ""
    assert broker.lacks("own", "durable") == "some broker: not true that what was acknowledged survives a restart"
    with pytest.raises(AssertionError, match="no such capability"):
        broker.lacks("wings")


def test_without_java_or_maven_there_is_no_local_broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKADOUBLE_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(Unavailable, match="java is not on the PATH"),
        KINDS["local"].opened(BrokerRequirements(VERSION)),
    ):
        pass
    (tmp_path / "java").touch(0o755)
    with pytest.raises(Unavailable, match="mvn is not on the PATH"), KINDS["local"].opened(BrokerRequirements(VERSION)):
        pass


def test_a_release_that_maven_cannot_fetch_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs, kept = tmp_path / "bin", tmp_path / "cache"
    programs.mkdir()
    monkeypatch.setenv("KAFKADOUBLE_CACHE", str(kept))
    monkeypatch.setenv("PATH", str(programs))
    for name in ("java", "mvn"):
        (programs / name).write_text("#!/bin/sh\necho no such artifact\nexit 1\n")
        (programs / name).chmod(0o755)
    with pytest.raises(Unavailable, match=r"could not fetch Kafka 0\.0\.1: no such artifact"):
        KINDS["local"].opened(BrokerRequirements("0.0.1")).__enter__()
    assert list(kept.iterdir()) == []


def test_a_java_that_starts_no_server_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the jars are there but the storage cannot be formatted, that is an error and not a reason
    to skip."""
    folder = tmp_path / f"server-{VERSION}"
    folder.mkdir()
    (folder / "complete").touch()
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho broken\nexit 3\n")
    java.chmod(0o755)
    monkeypatch.setenv("KAFKADOUBLE_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert jars() == []
    with pytest.raises(RuntimeError, match="a storage could not be formatted: broken"):
        cluster(tmp_path / "run", flags=["-Xmx1m"]).__enter__()
