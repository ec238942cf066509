"""The module for Testcontainers. A stand-in for a container runs its command as a process of this
machine; with a Docker engine and the image the last test uses a real one."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Self

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from kafkadouble import UsageError
from kafkadouble.control.client import ControlError
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.control.http import call
from tests.support.client import ask
from tests.support.serving import KAFKADOUBLE


class StandIn:
    """The part of testcontainers' DockerContainer that the module uses."""

    def __init__(self, image: str) -> None:
        self.image = image
        self.environment: dict[str, str] = {}
        self.ports: dict[int, int] = {}
        self.command: list[str] = []
        self.strategy: tuple[int, str] | None = None
        self.aliases: tuple[str, ...] = ()

    def with_bind_ports(self, container: int, host: int) -> None:
        self.ports[container] = host

    def with_env(self, key: str, value: str) -> None:
        self.environment[key] = value

    def with_command(self, command: list[str]) -> None:
        self.command = command

    def with_network_aliases(self, *aliases: str) -> None:
        self.aliases = aliases

    def waiting_for(self, strategy: tuple[int, str]) -> None:
        self.strategy = strategy

    def get_docker_client(self) -> Any:
        return self

    def host(self) -> str:
        return "localhost"

    def start(self) -> Self:
        self.process = subprocess.Popen(
            [*KAFKADOUBLE, "serve", *self.command],
            env={**os.environ, **self.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline().startswith("bootstrap.servers=")
        assert self.strategy is not None
        port, path = self.strategy
        assert call(f"http://127.0.0.1:{port}", "GET", path).status == 200
        return self

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module with stand-ins for testcontainers."""
    for name in ("testcontainers", "testcontainers.core", "testcontainers.core.container"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    strategies: Any = ModuleType("testcontainers.core.wait_strategies")
    strategies.HttpWaitStrategy = lambda port, path: (port, path)
    monkeypatch.setitem(sys.modules, strategies.__name__, strategies)
    monkeypatch.setattr(sys.modules["testcontainers.core.container"], "DockerContainer", StandIn, raising=False)
    monkeypatch.delitem(sys.modules, "kafkadouble.testcontainers", raising=False)
    yield importlib.import_module("kafkadouble.testcontainers")
    sys.modules.pop("kafkadouble.testcontainers", None)


def test_clients_and_verbs_reach_it(module: Any) -> None:
    with module.KafkaDoubleContainer(brokers=2, arguments=("--topic", "orders:2")) as kafka:
        assert sorted(kafka.ports) == sorted(kafka.ports.values())
        assert kafka.image == "kafkadouble"
        producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0})
        producer.produce("orders", "two pears", partition=1)
        assert producer.flush(30) == 0
        assert [each["value"] for each in kafka.call("records", topic="orders")] == ["two pears"]
        assert list(kafka.call("describe_cluster")["brokers"]) == ["1", "2"]
        assert call(kafka.control_url, "POST", "/verbs/topics").status == 401
        with pytest.raises(ControlError, match="UNKNOWN_TOPIC_OR_PARTITION"):
            kafka.call("records", topic="none")


def test_other_containers_and_the_host_are_served_at_once(module: Any) -> None:
    """A container of the network knows the alias; here, where the alias has no address, what the
    brokers tell it is looked at."""
    with module.KafkaDoubleContainer(brokers=2, alias="kafka") as kafka:
        assert kafka.aliases == ("kafka",)
        inside, outside = (
            [(host, int(port)) for host, _, port in (each.rpartition(":") for each in servers.split(","))]
            for servers in (kafka.internal_bootstrap_servers, kafka.bootstrap_servers)
        )
        assert {host for host, _ in inside} == {"kafka"}
        assert set(kafka.ports) >= {port for _, port in outside}
        assert not set(kafka.ports) & {port for _, port in inside}, "no port of the host is taken for them"
        for told in (inside, outside):
            response = ask(("127.0.0.1", told[0][1]), MetadataRequest(topics=[]), 12)
            assert sorted((broker.host, broker.port) for broker in response.brokers) == sorted(told)
    with pytest.raises(UsageError, match="other containers reach no broker: give an alias"):
        _ = module.KafkaDoubleContainer().internal_bootstrap_servers
    with pytest.raises(UsageError, match="alias 'kafka' with security"):
        module.KafkaDoubleContainer(alias="kafka", security="SSL")


def test_clients_log_in(module: Any) -> None:
    container = module.KafkaDoubleContainer(
        arguments=("--topic", "orders"),
        security="SASL_SSL",
        users={"alice": "secret", "bob": "other"},
        acls=["User:alice allow DESCRIBE topic:orders"],
    )
    with container as kafka:
        assert not any("secret" in word for word in kafka.command)
        for user, topics in (("alice", {"orders"}), ("bob", set())):
            client = AdminClient({**kafka.client_config(user), "log_level": 0})
            assert set(client.list_topics(timeout=30).topics) == topics
        with pytest.raises(ControlError, match="kafka-python takes names of files"):
            kafka.client_config("alice", "kafka-python")


def test_each_has_a_token_of_its_own(module: Any) -> None:
    first, second = module.KafkaDoubleContainer(), module.KafkaDoubleContainer("another")
    assert first.control_token != second.control_token
    assert second.image == "another"
    with pytest.raises(UsageError, match="brokers is 0: there is one at least"):
        module.KafkaDoubleContainer(brokers=0)


def test_free_ports_are_in_a_row(module: Any) -> None:
    ports = module.free_ports(4)
    assert ports == list(range(ports[0], ports[0] + 4))


def test_in_a_real_container() -> None:
    docker = pytest.importorskip("docker", reason="SKIPPED: there is no testcontainers, so no container was started")
    try:
        docker.from_env().images.get("kafkadouble")
    except docker.errors.DockerException as problem:
        pytest.skip(f"SKIPPED: no container was started: {problem}")
    module = importlib.import_module("kafkadouble.testcontainers")
    with module.KafkaDoubleContainer() as kafka:
        producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0})
        producer.produce("orders", "two pears")
        assert producer.flush(60) == 0
        assert [each["value"] for each in kafka.call("records", topic="orders")] == ["two pears"]
