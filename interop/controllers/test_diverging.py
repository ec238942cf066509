"""Diverging logs of a broker of ours and one of Apache Kafka's. A broker that restarts as a
follower truncates, by the leader's epochs (KIP-101), what its new leader never had, and in the end
both are equal byte for byte.

    pytest interop/controllers/test_diverging.py --broker local
"""

from __future__ import annotations

import pytest

from interop.support import unique

from . import admin, placed, replicas
from .mixed import Mixed
from .node import Node
from .one_of_each import BOTH, one_of_each

pytestmark = pytest.mark.timeout(900)

PATIENT = {
    "broker.session.timeout.ms": "6000",
    "replica.lag.time.max.ms": "60000",
    "min.insync.replicas": "1",
    "offsets.topic.replication.factor": "2",
}
"""A follower that is paused for a moment stays in sync, and is not fenced."""


cluster = one_of_each("ours", PATIENT)


def test_records_that_only_a_killed_leader_had_are_truncated_at_its_restart(cluster: Mixed) -> None:
    """Each broker in turn leads, is killed with records that the other never had, and follows what
    the other wrote meanwhile at the same offsets."""
    topic, kept = unique("tails"), list[bytes]()
    placed.create(cluster.bootstrap, topic, [BOTH])
    for old, new in (BOTH, BOTH[::-1]):
        old_leader, new_leader = cluster.node(old), cluster.node(new)
        admin.led(old_leader.bootstrap, topic, [old])
        kept += write(old_leader, topic, f"of-{old}", acks=placed.IN_SYNC)
        new_leader.pause()
        # The response to a waiting fetch may reach the paused follower, which reads it when it
        # continues.
        answer = write(old_leader, topic, "answers-a-fetch-that-waits", 1)
        tail = [value for number in range(3) for value in write(old_leader, topic, f"only-{old}-has-{number}")]
        old_leader.kill()
        new_leader.resume()
        assert replicas.values(old_leader, topic) == [*kept, *answer, *tail], "there was no tail"
        admin.led(new_leader.bootstrap, topic, [new])
        kept = known(new_leader, topic, kept, answer) + write(new_leader, topic, f"of-{new}-after-{old}")
        with pytest.raises(AssertionError):
            replicas.equal(cluster.brokers, topic)
        old_leader.start()
        admin.settled(new_leader.bootstrap, topic, [BOTH])
    kept += write(new_leader, topic, "last", acks=placed.IN_SYNC)
    cluster.stop()
    assert replicas.equal(cluster.brokers, topic) >= 5
    assert replicas.values(cluster.node(1), topic) == kept
    assert len(replicas.epochs(cluster.node(1), topic)) == 3


def write(node: Node, topic: str, word: str, count: int = 5, acks: int = placed.LEADER) -> list[bytes]:
    """A batch that only this leader has."""
    values = placed.numbered(word, count)
    placed.written(node.bootstrap, topic, values, acks=acks)
    return values


def known(leader: Node, topic: str, kept: list[bytes], answer: list[bytes]) -> list[bytes]:
    """The records of a new leader: all that both had, and those that may have been sent to it while
    it was paused."""
    found = replicas.values(leader, topic)
    assert found in (kept, kept + answer)
    return kept if found == kept else kept + answer
