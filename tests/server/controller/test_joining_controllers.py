"""A node that is a whole cluster, and that other controllers join: it may lose the leadership, and
its broker goes on (KIP-853, KIP-1186)."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages.generated.add_raft_voter import AddRaftVoterRequest
from kafkadouble.messages.generated.remove_raft_voter import RemoveRaftVoterRequest
from kafkadouble.server.node import Node
from tests.server.controllers import Controllers, address
from tests.server.topic_requests import creating
from tests.support.listeners import BROKER

FIRST = "{}:{}".format(*address(1))


@pytest.fixture
def cluster() -> Controllers:
    """Node 1 is broker and controller, alone; node 2 is a controller that has discovered it."""
    controllers = Controllers(0, {"controller.quorum.voters": "", "controller.quorum.bootstrap.servers": FIRST})
    controllers.restart(1, {"process.roles": "broker,controller", "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093"})
    assert controllers.nodes[1].controller.leads, "alone, it leads at once"
    controllers.restart(2)
    controllers.until(lambda: bool(controllers.nodes[2].controller.image.features))
    return controllers


def key_of(node: Node) -> Any:
    return node.quorum.replica.key


def add(cluster: Controllers, id: int) -> None:
    of, at, key = AddRaftVoterRequest, address(id), key_of(cluster.nodes[id])
    body = of(
        cluster_id="a-cluster",
        timeout_ms=5000,
        voter_id=id,
        voter_directory_id=key.directory_id,
        listeners=[of.Listener(name="CONTROLLER", host=at[0], port=at[1])],
    )
    assert cluster.ask(cluster.leader, body, 0).error_code == 0


def create(cluster: Controllers, node: Node, name: str) -> int:
    code: int = cluster.ask(node, creating(name), 7, listener=BROKER).topics[0].error_code
    return code


def test_joining_controller_becomes_voter_and_leads(cluster: Controllers) -> None:
    add(cluster, 2)
    assert sorted(cluster.nodes[1].quorum.replica.voters.ids) == [1, 2]
    cluster.nodes[1].quorum.replica.resign(cluster.now)
    cluster.until(lambda: cluster.nodes[2].controller.leads)
    cluster.step(20_000)
    first = cluster.nodes[1]
    assert not first.controller.image.brokers[1].fenced, "its broker goes on, and sends its heartbeats to the leader"
    assert create(cluster, first, "t") == 0
    cluster.until(lambda: first.partitions.get("t", 0) is not None)


def test_removed_controller_leaves_a_quorum_of_one(cluster: Controllers) -> None:
    add(cluster, 2)
    key = key_of(cluster.nodes[2])
    body = RemoveRaftVoterRequest(cluster_id="a-cluster", voter_id=key.id, voter_directory_id=key.directory_id)
    assert cluster.ask(cluster.leader, body, 0).error_code == 0
    cluster.kill(2)
    cluster.step(5000)
    assert cluster.nodes[1].quorum.is_alone
    assert create(cluster, cluster.nodes[1], "t") == 0


def test_a_broker_that_registered_by_a_request_does_not_register_twice(cluster: Controllers) -> None:
    """The node is alone again, and elected again: the registration that was sent by request
    stays valid."""
    add(cluster, 2)
    key = key_of(cluster.nodes[2])
    roles = {"process.roles": "broker,controller", "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093"}
    cluster.kill(1)
    first = cluster.restart(1, roles)
    cluster.until(lambda: first.is_open)
    epoch = first.controller.image.brokers[1].epoch
    if not first.controller.leads:
        cluster.nodes[2].quorum.replica.resign(cluster.now)
        cluster.until(lambda: first.controller.leads)
    body = RemoveRaftVoterRequest(cluster_id="a-cluster", voter_id=key.id, voter_directory_id=key.directory_id)
    assert cluster.ask(first, body, 0).error_code == 0
    cluster.kill(2)
    first.quorum.replica.resign(cluster.now)
    cluster.until(lambda: first.controller.leads)
    assert first.quorum.is_alone
    cluster.step(20_000)
    own = first.controller.image.brokers[1]
    assert (own.epoch, own.incarnation_id, own.fenced) == (epoch, first.incarnation_id, False)


def test_controller_joins_by_auto_join(cluster: Controllers) -> None:
    cluster.restart(3, {"controller.quorum.auto.join.enable": "true"})
    cluster.until(lambda: 3 in cluster.nodes[1].quorum.replica.voters)
    assert create(cluster, cluster.nodes[1], "t") == 0
    assert 2 not in cluster.nodes[1].quorum.replica.voters
