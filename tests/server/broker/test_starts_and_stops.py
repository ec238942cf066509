"""How long a broker tries to register, and whether it hands its leaderships over when it stops
(KIP-631)."""

from __future__ import annotations

import pytest

from kafkadouble.server.node import Node
from tests.server.controllers import Controllers

BROKER, OTHER = 11, 12
ENABLE, TIMEOUT = "controlled.shutdown.enable", "initial.broker.registration.timeout.ms"
TIMEOUT_MS, SESSION_MS = 60_000, 9_000


def with_topic(settings: dict[str, object]) -> Controllers:
    """A controller and two brokers with these settings; the first leads a partition of two
    replicas."""
    cluster = Controllers(1)
    cluster.add_brokers((BROKER, OTHER), settings)
    cluster.create("t", brokers=[BROKER, OTHER])
    return cluster


def leader(cluster: Controllers) -> int:
    return next(partition.leader for _, partition in cluster.topic("t").in_order())


def test_a_stopping_broker_hands_its_leaderships_over() -> None:
    cluster = with_topic({})
    cluster.stop_broker(BROKER)
    assert leader(cluster) == OTHER


def test_without_controlled_shutdown_a_broker_stops_at_once_and_leads_until_its_session_ends() -> None:
    cluster = with_topic({ENABLE: False})
    node, before = cluster.nodes[BROKER], cluster.now
    assert node.lifecycle is not None
    node.lifecycle.stop()
    assert node.lifecycle.has_shut_down
    cluster.step(SESSION_MS // 2)
    assert leader(cluster) == BROKER
    cluster.until(lambda: leader(cluster) == OTHER)
    assert cluster.now - before > SESSION_MS // 2


def unregistered(settings: dict[str, object]) -> tuple[Controllers, Node]:
    """A broker whose controllers do not answer."""
    cluster = Controllers(1)
    node = cluster.add_broker(BROKER, settings)
    cluster.cut = {BROKER, 1}
    return cluster, node


@pytest.mark.parametrize(("settings", "timeout_ms"), [({}, TIMEOUT_MS), ({TIMEOUT: 500}, 500)])
def test_a_broker_that_is_not_registered_in_time_halts(settings: dict[str, object], timeout_ms: int) -> None:
    cluster, node = unregistered(settings)
    cluster.step(timeout_ms - 10)
    assert node.halted is None
    cluster.step(20)
    assert node.halted == f"no controller registered this broker in {timeout_ms} ms: is the quorum reachable?"


def test_a_broker_that_was_registered_once_waits_for_its_controllers() -> None:
    cluster = with_topic({TIMEOUT: 500})
    cluster.cut = {BROKER, 1}
    cluster.step(2 * SESSION_MS)
    assert cluster.nodes[BROKER].halted is None
    cluster.cut = set()
    cluster.until(lambda: len(cluster.leader.controller.image.live_brokers()) == 2)
