"""Fetches of caught-up followers read no log, and change nothing that can be observed."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from kafkadouble.server.handlers import fetch
from kafkadouble.server.node import Node
from kafkadouble.server.replica.fetching import log_reader
from tests.server.controllers import Controllers
from tests.server.machine import produce_request
from tests.server.topic_requests import purging

BROKERS = (11, 12, 13)
PARTITIONS = 3
WAIT_MS = 500
"""replica.fetch.wait.max.ms"""


def started() -> Controllers:
    cluster = Controllers(1)
    cluster.add_brokers(BROKERS)
    cluster.create("t", partitions=PARTITIONS, replicas=3)
    cluster.until(lambda: all(cluster.nodes[id].controller.image.topic_named("t") is not None for id in BROKERS))
    cluster.step(4 * WAIT_MS)
    return cluster


def leader_of(cluster: Controllers, index: int) -> Node:
    return cluster.nodes[cluster.topic("t").partitions[index].leader]


def produce(cluster: Controllers, index: int, acks: int = -1) -> None:
    request = produce_request("t", b"v", acks=acks, index=index, timeout_ms=60_000)
    cluster.submit(leader_of(cluster, index), request, 9, lambda answer: None)


def state(cluster: Controllers) -> list[Any]:
    """Of all replicas, and of what their leaders know of the others."""
    found: list[Any] = [cluster.now]
    for id in BROKERS:
        node = cluster.nodes[id]
        assert node.fetchers is not None
        logs = [*(led.log for led in node.partitions), *(each.log for each in node.fetchers.partitions.values())]
        found += [(log.index, log.log_start_offset, log.high_watermark, log.log_end_offset) for log in logs]
        for led in node.partitions:
            assert led.in_sync is not None
            for other, remote in led.in_sync.remotes.items():
                known = [getattr(remote, name) for name in remote.__slots__]
                found.append((id, led.index, sorted(led.in_sync.isr), other, *known))
    return found


def story(seed: int) -> list[list[Any]]:
    """What becomes of a cluster in which this and that happens."""
    random, cluster, states = Random(seed), started(), []
    for _ in range(60):
        index = random.randrange(PARTITIONS)
        match random.randrange(10):
            case 0:
                node, request = leader_of(cluster, index), purging("t", -1, index)
                cluster.submit(node, request, 2, lambda answer: None)
            case 1 | 2:
                cluster.step(random.choice((1, 100, WAIT_MS, 4 * WAIT_MS)))
            case 3:
                cluster.cut.add(random.choice(BROKERS))
            case 4:
                cluster.cut.clear()
            case 5:
                produce(cluster, index, acks=1)
            case _:
                produce(cluster, index)
        states.append(state(cluster))
    return states


@pytest.mark.parametrize("seed", range(2))
def test_caught_up_fetch_equals_a_full_fetch(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = story(seed)
    monkeypatch.setattr(fetch, "read_caught_up", lambda *others: None)
    assert story(seed) == quick
    assert len({str(each[1:]) for each in quick}) > 30, "things happen"


def test_a_record_is_read_once_for_each_follower(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, looks = started(), list[int]()
    really = log_reader.read

    def read(partition: Any, *others: Any, **named: Any) -> Any:
        looks.append(partition.index)
        return really(partition, *others, **named)

    monkeypatch.setattr(log_reader, "read", read)
    produce(cluster, 1)
    cluster.step(1)
    led = leader_of(cluster, 1).partitions.get("t", 1)
    assert led is not None
    assert led.high_watermark == 1
    assert looks == [1, 1]
