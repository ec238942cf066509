"""Fault rules for links between the nodes of one process: what a partition between two brokers does
to the replicas, with a stepped clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from kafkadouble import KafkaDouble, KafkaError, RuleHandle, UsageError
from kafkadouble.engine.cluster import Cluster
from kafkadouble.server.network.link_faults import LinkFaults

LEADER, FOLLOWER, OTHER, CONTROLLER = 1, 2, 3, 4
LAG_S = 60
"""Longer than `replica.lag.time.max.ms`, and the interval in which it is checked."""


@pytest.fixture
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble(brokers=3, stepped=True, seed=1) as kafka:
        kafka.create_topic("t", replication_factor=3)
        kafka.move_leader("t", 0, to=LEADER)
        yield kafka


def faults_of(kafka: KafkaDouble) -> LinkFaults | None:
    cluster = kafka._double_host.serving().broker
    assert isinstance(cluster, Cluster)
    return cluster.in_process.links.faults


def lag(kafka: KafkaDouble) -> list[int]:
    """The in-sync replicas, when a record was appended and those that do not follow lag behind."""
    with suppress(KafkaError):  # not every in-sync replica acknowledges it
        kafka.produce("t", "pear")
    kafka.advance(LAG_S)
    return kafka.isr("t", 0)


ARMED: dict[str, Callable[[KafkaDouble], RuleHandle]] = {
    "both ways": lambda kafka: kafka.half_open(link=(LEADER, FOLLOWER), both_ways=True),
    "from the leader": lambda kafka: kafka.half_open(link=(LEADER, FOLLOWER)),
    "to the leader": lambda kafka: kafka.half_open(link=(FOLLOWER, LEADER)),
    "all that the follower sends": lambda kafka: kafka.half_open(link=(FOLLOWER, None), for_seconds=70),
    "refused": lambda kafka: kafka.refuse_connections(link=(FOLLOWER, LEADER)),
    "latency": lambda kafka: kafka.latency(45, link=(FOLLOWER, LEADER)),
    "bandwidth": lambda kafka: kafka.bandwidth(1, link=(FOLLOWER, LEADER)),
    "slices": lambda kafka: kafka.slice_frames(1, gap=10, link=(FOLLOWER, LEADER)),
    "resets": lambda kafka: kafka.reset_after(10, link=(FOLLOWER, LEADER)),
}


@pytest.mark.parametrize("name", ARMED)
def test_a_partition_shrinks_the_isr_until_it_ends(kafka: KafkaDouble, name: str) -> None:
    with ARMED[name](kafka) as handle:
        assert lag(kafka) == [LEADER, OTHER]
        assert handle.hits > 0
    kafka.advance(LAG_S)
    assert kafka.isr("t", 0) == [LEADER, FOLLOWER, OTHER]
    assert faults_of(kafka) is None
    assert len(kafka.records("t")) == 1


def test_connections_refused_in_one_direction_pass_in_the_other(kafka: KafkaDouble) -> None:
    """A follower fetches; its leader does not connect to it."""
    with kafka.refuse_connections(link=(LEADER, FOLLOWER)) as handle:
        assert lag(kafka) == [LEADER, FOLLOWER, OTHER]
        assert handle.hits == 0


@pytest.mark.parametrize(
    "arm",
    [
        lambda kafka: kafka.latency(0.2, jitter=0.2, link=(None, None)),
        lambda kafka: kafka.bandwidth(20_000, link=(None, None)),
        lambda kafka: kafka.slice_frames(100, gap=0.01, link=(None, None)),
        lambda kafka: kafka.reset_after(5000, link=(FOLLOWER, LEADER), both_ways=True, times=3),
    ],
)
def test_replicas_follow_over_links_that_are_slow(kafka: KafkaDouble, arm: Callable[[KafkaDouble], RuleHandle]) -> None:
    with arm(kafka) as handle:
        for _ in range(3):
            assert lag(kafka) == [LEADER, FOLLOWER, OTHER]
        assert handle.hits > 0
    assert [record.value for record in kafka.records("t")] == [b"pear"] * 3


def test_a_broker_that_does_not_reach_the_controller_is_fenced(kafka: KafkaDouble) -> None:
    with kafka.half_open(link=(LEADER, CONTROLLER)):
        kafka.advance(20)
        assert kafka.leader("t", 0) != LEADER
    kafka.advance(LAG_S)
    assert kafka.isr("t", 0) == [LEADER, FOLLOWER, OTHER]


def test_slow_close_of_a_link_between_brokers(kafka: KafkaDouble) -> None:
    handle = kafka.slow_close(20, link=(LEADER, FOLLOWER))
    kafka.brokers[LEADER].kill()
    assert handle.hits > 0
    kafka.advance(LAG_S)
    assert kafka.isr("t", 0) == [FOLLOWER, OTHER]


def test_trigger_of_a_link_rule_counts_messages(kafka: KafkaDouble) -> None:
    handle = kafka.latency(1, link=(FOLLOWER, LEADER), times=2, on_call=3, after_seconds=5)
    kafka.advance(4)
    assert handle.hits == 0
    kafka.advance(LAG_S)
    assert (handle.hits, handle.spent) == (2, True)


def test_the_same_seed_holds_the_same_messages() -> None:
    def hits() -> list[int]:
        with KafkaDouble(brokers=2, stepped=True, seed=3) as kafka:
            kafka.create_topic("t", replication_factor=2)
            handle = kafka.latency(0.1, jitter=0.1, link=(None, None), probability=0.3)
            found = []
            for _ in range(5):
                kafka.advance(2)
                found.append(handle.hits)
            return found

    first = hits()
    assert first == hits()
    assert len(set(first)) > 1


def test_many_messages_are_held_and_then_forgotten(kafka: KafkaDouble) -> None:
    with kafka.half_open(link=(None, CONTROLLER), both_ways=True):
        kafka.advance(600)
        faults = faults_of(kafka)
        assert faults is not None
        held = [message for lane in faults._lanes.values() for message in lane.messages]
        assert len(held) > 10
        assert sum(message.owner is not None for message in held) < 30
    kafka.advance(LAG_S)
    assert kafka.isr("t", 0) == [LEADER, FOLLOWER, OTHER]


def test_invalid_link_is_refused(kafka: KafkaDouble) -> None:
    with pytest.raises(UsageError, match=r"link of a rule is a pair of nodes of this double, 1, 2, 3, 4, not \(1, 9\)"):
        kafka.half_open(link=(1, 9))
    with pytest.raises(UsageError, match=r"link of a rule is a pair of two node ids, as \(1, 2\).*, not \(1, 1\)"):
        kafka.half_open(link=(1, 1))
    with pytest.raises(UsageError, match="a link has no client_id; a rule for links is narrowed by link or both_ways"):
        kafka.half_open(link=(1, 2), client_id="c")
    with pytest.raises(UsageError, match="a connection has no both_ways"):
        kafka.half_open(both_ways=True)
    with KafkaDouble() as alone, pytest.raises(UsageError, match=r"there is one node.*give brokers=2 or more"):
        alone.half_open(link=(1, 2))
