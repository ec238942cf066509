"""The in-sync replicas of a broker of ours and one of Apache Kafka's; each of them leads. The set
shrinks when the other broker is paused and grows when it continues, and `acks=all` requires both if
`min.insync.replicas` is 2. Both leaders answer alike at each step.

    pytest interop/controllers/test_in_sync.py --broker local
"""

from __future__ import annotations

import pytest

from interop.support import unique
from tests.support.waiting import eventually

from . import admin, placed, replicas
from .mixed import Mixed
from .one_of_each import BOTH, one_of_each

pytestmark = pytest.mark.timeout(900)

LAGS = {"replica.lag.time.max.ms": "2000", "broker.session.timeout.ms": "60000"}
"""A paused follower falls out of sync, by its leader's decision, long before it is fenced."""


cluster = one_of_each("theirs", LAGS)


def test_isr_shrinks_and_grows_and_produce_with_too_few_in_sync_replicas_fails(cluster: Mixed) -> None:
    topics = []
    for leader in cluster.brokers:
        follower = cluster.node(3 - leader.id)
        topics.append(unique(f"led-by-{leader.id}"))
        at, topic = leader.bootstrap, topics[-1]
        placed.create(at, topic, [[leader.id, follower.id]], min_insync_replicas="2")
        assert placed.written(at, topic, [b"both have it"]) == 0
        follower.pause()
        waits = placed.produce(at, topic, [b"appended, and then a replica is removed from the ISR"], timeout_ms=3000)
        assert waits == ("REQUEST_TIMED_OUT", 1)
        admin.settled(at, topic, [[leader.id]])
        assert placed.produce(at, topic, [b"refused"]) == ("NOT_ENOUGH_REPLICAS", -1)
        assert placed.produce(at, topic, [b"the leader has it"], acks=placed.LEADER) == ("NONE", 2)
        assert placed.end(at, topic) == 1, (
            "no consumer may read a record that fewer replicas have than min.insync.replicas (KIP-966)"
        )
        follower.resume()
        admin.settled(at, topic, [BOTH])
        assert placed.written(at, topic, [b"both again"]) == 3
        eventually(lambda: placed.end(at, topic), lambda end: end == 4)  # noqa: B023  # at once
    cluster.stop()
    for topic in topics:
        assert replicas.equal(cluster.brokers, topic) == 4
