"""A broker with several listeners: what it registers, and the addresses that it gives on each."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import kafkadouble
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_cluster import DescribeClusterRequest
from kafkadouble.messages.generated.describe_topic_partitions import DescribeTopicPartitionsRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.server.configs.listener_specs import listener_specs
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.node import Node
from kafkadouble.server.requests.request import Peer
from tests.server.controllers import PORT, Controllers, address
from tests.server.harness import NOW, SEED, Harness

TWO = {
    "listeners": "OUT://out:1,IN://in:2,HIDDEN://hidden:3",
    "advertised.listeners": "OUT://out:1,IN://in:2",
    "listener.security.protocol.map": "IN:PLAINTEXT,OUT:PLAINTEXT,HIDDEN:PLAINTEXT",
    "inter.broker.listener.name": "IN",
}


@pytest.fixture
def cluster() -> Harness:
    harness = Harness()
    settings = Settings(TWO)
    harness.node = Node(settings, listeners=listener_specs(settings), now=NOW, seed=SEED)
    at(harness, "OUT")
    harness.create("t")
    return harness


def at(cluster: Harness, name: str) -> None:
    """Goes on as a client of this listener."""
    [spec] = [spec for spec in cluster.node.listeners if spec.name == name]
    cluster.peer = Peer(1, "127.0.0.1", 50_000, spec)


def test_node_registers_advertised_listeners_inter_broker_first(cluster: Harness) -> None:
    [broker] = cluster.image.brokers.values()
    assert [endpoint[:3] for endpoint in broker.endpoints] == [("IN", "in", 2), ("OUT", "out", 1)]


@pytest.mark.parametrize(("name", "expected"), [("IN", ("in", 2)), ("OUT", ("out", 1))])
def test_clients_are_given_the_address_of_their_listener(
    cluster: Harness, name: str, expected: tuple[str, int]
) -> None:
    at(cluster, name)
    topic = MetadataRequest.MetadataRequestTopic(name="t")
    answers: list[Any] = cluster.submit(MetadataRequest(topics=[topic]), 12).brokers
    answers += cluster.submit(DescribeClusterRequest(), 1).brokers
    answers += cluster.submit(FindCoordinatorRequest(coordinator_keys=["g"]), 4).coordinators
    assert [(answer.host, answer.port) for answer in answers] == [expected] * 3


def test_a_listener_that_is_not_advertised_gives_no_broker_and_no_leader(cluster: Harness) -> None:
    at(cluster, "HIDDEN")
    for version, code in ((5, error_codes.LEADER_NOT_AVAILABLE), (12, error_codes.LISTENER_NOT_FOUND)):
        answer = cluster.submit(MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name="t")]), version)
        [partition] = answer.topics[0].partitions
        assert (answer.brokers, partition.error_code, partition.leader_id) == ([], code, -1)
        assert list(partition.offline_replicas) == [1]
    assert cluster.submit(DescribeClusterRequest(), 1).brokers == []
    [found] = cluster.submit(FindCoordinatorRequest(coordinator_keys=["g"]), 4).coordinators
    assert found.error_code == error_codes.COORDINATOR_NOT_AVAILABLE
    described = DescribeTopicPartitionsRequest(topics=[DescribeTopicPartitionsRequest.TopicRequest(name="t")])
    assert cluster.submit(described, 0).topics[0].partitions[0].leader_id == -1


def test_a_broker_registers_all_its_listeners_by_request_too() -> None:
    cluster = Controllers(1)
    cluster.until(lambda: cluster.nodes[1].controller.leads)
    settings = {name: text for name, text in TWO.items() if name != "advertised.listeners"}
    broker = cluster.add_broker(2, {**settings, "listeners": "OUT://:1,IN://:2"})
    cluster.until(lambda: 2 in cluster.nodes[1].controller.image.brokers)
    endpoints = cluster.nodes[1].controller.image.brokers[2].endpoints
    assert [endpoint[:3] for endpoint in endpoints] == [("IN", *address(2)), ("OUT", *address(2))]
    assert broker.fetchers is not None
    assert broker.fetchers._listener == "IN"


def test_a_controller_registers_all_its_listeners() -> None:
    names = {"listeners": f"CTL://:{PORT},CTL2://:1", "controller.listener.names": "CTL2,CTL"}
    protocols = {"listener.security.protocol.map": "CTL:PLAINTEXT,CTL2:PLAINTEXT"}
    cluster = Controllers(1, {**names, **protocols})
    cluster.until(lambda: 1 in cluster.nodes[1].controller.image.controllers)
    endpoints = cluster.nodes[1].controller.image.controllers[1].endpoints
    assert [endpoint.name for endpoint in endpoints] == ["CTL2", "CTL"]


def test_no_listener_is_called_plaintext_but_by_the_settings() -> None:
    """Its name is the settings': a literal elsewhere would be a second opinion."""
    server = Path(next(iter(kafkadouble.__path__))) / "server"
    found = {
        file.relative_to(server).as_posix()
        for file in server.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value == "PLAINTEXT"
    }
    assert found == {"requests/listener_spec.py"}
