"""Brokers whose controllers are other nodes: registered, fenced when silent, and served where only
the controller can (KIP-631).
"""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.server.node import Node
from tests.server.controllers import STEP, Controllers
from tests.server.machine import produce_request
from tests.server.topic_requests import creating

BROKERS = (11, 12)


@pytest.fixture(params=[1, 3])
def cluster(request: pytest.FixtureRequest) -> Controllers:
    controllers = Controllers(request.param)
    controllers.add_brokers(BROKERS)
    return controllers


def create(cluster: Controllers, node: Node, name: str, partitions: int = 2) -> Any:
    return cluster.ask(node, creating(name, partitions=partitions), 7).topics[0]


def leaders(cluster: Controllers, name: str) -> list[int]:
    return [partition.leader for _, partition in cluster.topic(name).in_order()]


def produce(cluster: Controllers, node: Node, name: str, index: int) -> tuple[int, int]:
    request: ProduceRequest = produce_request(name, b"v", index=index)
    answered = cluster.ask(node, request, 9).responses[0].partition_responses[0]
    return answered.error_code, answered.base_offset


def test_brokers_serve_after_replaying_their_own_registration(cluster: Controllers) -> None:
    metadata = cluster.ask(cluster.nodes[11], MetadataRequest(topics=[]), 12)
    assert sorted(broker.node_id for broker in metadata.brokers) == [11, 12]
    image = cluster.leader.controller.image
    assert {id: image.brokers[id].fenced for id in BROKERS} == {11: False, 12: False}


def test_broker_forwards_requests_of_the_controller(cluster: Controllers) -> None:
    made = create(cluster, cluster.nodes[11], "t")
    assert (made.error_code, made.num_partitions) == (0, 2)
    assert sorted(leaders(cluster, "t")) == [11, 12]
    cluster.until(lambda: cluster.nodes[12].controller.image.topic_named("t") is not None)
    for index, leader in enumerate(leaders(cluster, "t")):
        assert produce(cluster, cluster.nodes[leader], "t", index) == (0, 0)
        other = cluster.nodes[23 - leader]
        assert produce(cluster, other, "t", index)[0] in (
            error_codes.NOT_LEADER_OR_FOLLOWER,
            error_codes.UNKNOWN_TOPIC_OR_PARTITION,
        )
    assert create(cluster, cluster.nodes[12], "t").error_code == error_codes.TOPIC_ALREADY_EXISTS
    gone = cluster.ask(cluster.nodes[12], DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000), 5)
    assert gone.responses[0].error_code == 0
    cluster.until(lambda: cluster.nodes[11].controller.image.topic_named("t") is None)
    assert produce(cluster, cluster.nodes[11], "t", 0)[0] == error_codes.UNKNOWN_TOPIC_OR_PARTITION


def test_ids_for_producers_come_in_blocks_of_each_broker(cluster: Controllers) -> None:
    found = []
    for id in BROKERS:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
        first = cluster.ask(cluster.nodes[id], request, 4)
        assert first.error_code == error_codes.COORDINATOR_LOAD_IN_PROGRESS
        cluster.step(100)
        found += [cluster.ask(cluster.nodes[id], request, 4).producer_id for _ in range(3)]
    assert len(set(found)) == 6
    assert [each % 1000 for each in found] == [0, 1, 2, 0, 1, 2]


def test_missing_topics_are_created_by_the_controller(cluster: Controllers) -> None:
    requested = MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(name="missing")], allow_auto_topic_creation=True
    )
    assert cluster.ask(cluster.nodes[11], requested, 12).topics[0].error_code == error_codes.UNKNOWN_TOPIC_OR_PARTITION
    cluster.until(lambda: cluster.nodes[11].controller.image.topic_named("missing") is not None)
    find = FindCoordinatorRequest(key="g")
    assert cluster.ask(cluster.nodes[12], find, 0).error_code == error_codes.COORDINATOR_NOT_AVAILABLE
    cluster.until(lambda: cluster.nodes[12].controller.image.topic_named("__consumer_offsets") is not None)
    assert cluster.ask(cluster.nodes[12], find, 0).node_id in BROKERS


def test_silent_broker_is_fenced_and_unfenced_later(cluster: Controllers) -> None:
    create(cluster, cluster.nodes[11], "t")
    before = leaders(cluster, "t")
    cluster.kill(11)
    cluster.until(lambda: cluster.leader.controller.image.brokers[11].fenced)
    assert leaders(cluster, "t") == [-1 if leader == 11 else leader for leader in before]
    cluster.add_broker(11)
    cluster.until(lambda: not cluster.leader.controller.image.brokers[11].fenced)
    assert leaders(cluster, "t") == before
    cluster.until(lambda: cluster.nodes[11].partitions.get("t", before.index(11)) is not None)
    assert produce(cluster, cluster.nodes[11], "t", before.index(11)) == (0, 0)


@pytest.mark.parametrize("phase", [0, 450, 900])
def test_silent_broker_is_fenced_when_its_session_ends(cluster: Controllers, phase: int) -> None:
    cluster.step(phase)
    leading = cluster.leader.controller.active
    heard_at = leading.heartbeats.of(leading.image.brokers[11]).last_contact_ms
    assert heard_at is not None
    cluster.kill(11)
    cluster.until(lambda: cluster.leader.controller.image.brokers[11].fenced)
    assert 0 < cluster.now - heard_at - leading.heartbeats.session_timeout_ms <= 4 * STEP


def test_broker_in_controlled_shutdown_may_stop_at_once(cluster: Controllers) -> None:
    create(cluster, cluster.nodes[11], "t")
    began = cluster.now
    cluster.stop_broker(11)
    assert cluster.now - began < 3000, "the other must have read that it goes, and tells so every 2 s"
    cluster.until(lambda: cluster.leader.controller.image.brokers[11].fenced)
    assert 11 not in leaders(cluster, "t")


def test_brokers_outlive_their_controller() -> None:
    cluster = Controllers(3)
    for id in BROKERS:
        cluster.add_broker(id)
    cluster.until(lambda: any(len(node.controller.image.live_brokers()) == 2 for node in cluster.nodes.values()))
    for round in range(3):
        leader = cluster.elect()
        assert create(cluster, cluster.nodes[11], f"t{round}").error_code == 0
        cluster.kill(leader.id)
        cluster.until(lambda: any(node.controller.leads for node in cluster.nodes.values()))
        assert create(cluster, cluster.nodes[12], f"u{round}").error_code == 0
        cluster.restart(leader.id)
        assert len(cluster.leader.controller.image.live_brokers()) == 2
