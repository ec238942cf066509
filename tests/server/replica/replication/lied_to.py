"""Three brokers with a partition, and what they must do when its leader lies about it for a
while."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.server.node import Node
from tests.server.replica.replication.liars import BROKERS, Liars, Lie
from tests.server.replica.replication.replicated_topic import contents, create, partition, produce, settled

END = 3
"""The end of each replica's log when the lies begin; the leader appends one more record soon
after."""
LIES_MS, FETCHES = 4000, 16
"""How long the lies last, and the most requests that two followers may send in that time, with a
backoff of one second after each."""

PartitionData = FetchResponse.PartitionData
Change = Callable[[PartitionData], None]


def three() -> Liars:
    """The brokers, and a topic whose records every replica has."""
    liars = Liars(1)
    liars.add_brokers(BROKERS)
    create(liars, "t")
    liars.until(lambda: all(liars.nodes[id].controller.image.topic_named("t") is not None for id in BROKERS))
    for number in range(END):
        assert produce(liars, b"v%d" % number) == (0, number)
    liars.until(lambda: settled(liars))
    liars.step(1000)
    return liars


def saying(**fields: Any) -> Callable[[Any], None]:
    """The lie that sets these fields."""

    def change(data: Any) -> None:
        for name, value in fields.items():
            setattr(data, name, value)

    return change


def followers(cluster: Liars) -> list[Node]:
    return [cluster.nodes[id] for id in BROKERS if id != partition(cluster).leader]


def error_lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


def live_with(cluster: Liars, lie: Lie) -> int:
    """The leader appends a record, and lies about it for a while; returns how often it was fetched
    from."""
    requested = 0

    def counted(request: Any, answer: Any) -> Any:
        nonlocal requested
        requested += 1
        return lie(request, answer)

    cluster.lie = counted
    assert produce(cluster, b"news", acks=1)[0] == 0
    cluster.step(LIES_MS)
    cluster.lie = None
    assert all(node.halted is None for node in cluster.nodes.values())
    return requested


def goes_on(cluster: Liars) -> None:
    """Every replica comes to have the same log, and to be in sync."""
    cluster.until(lambda: settled(cluster) and len(partition(cluster).isr) == 3, 60_000)
    assert produce(cluster, b"after")[0] == 0
    cluster.until(lambda: settled(cluster))


def is_refused(cluster: Liars, caplog: pytest.LogCaptureFixture, lie: Lie, words: str, most: int = FETCHES) -> None:
    """Followers append nothing of it, each reports it once, and they do not fetch again and
    again."""
    before = [contents(node) for node in followers(cluster)]
    requested = live_with(cluster, lie)
    assert [contents(node) for node in followers(cluster)] == before
    lines = error_lines(caplog)
    assert [line for line in lines if words in line], lines
    assert len(lines) <= 4, lines
    assert requested <= most
    goes_on(cluster)
