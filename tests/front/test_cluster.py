"""KafkaDouble with several brokers, in stepped time: what one broker does, and what needs
several."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble, KafkaError, UsageError
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.support.client import ask, produce

SESSION_S, LAG_S = 10, 35
"""More than the session of a broker, and more than the time after which a follower leaves the
in-sync replicas."""


@pytest.fixture
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble(brokers=3, stepped=True, seed=20261121) as kafka:
        kafka.create_topic("t", replication_factor=3)
        yield kafka


def values(kafka: KafkaDouble) -> list[bytes | None]:
    return [record.value for record in kafka.records("t")]


def port_of(kafka: KafkaDouble, id: int) -> int:
    return int(kafka.brokers[id].bootstrap.rpartition(":")[2])


def test_new_partitions_replicate_with_a_stopped_clock(kafka: KafkaDouble) -> None:
    """Followers whose fetch waits at a leader fetch its new partitions too, although the clock
    stands still."""
    kafka.produce("t", "old")
    for name in ("new", "newer"):
        kafka.create_topic(name, partitions=3, replication_factor=3)
        for index in range(3):
            kafka.produce(name, "v", partition=index)
        assert [len(kafka.records(name, index)) for index in range(3)] == [1, 1, 1]


def test_clients_begin_at_any_broker(kafka: KafkaDouble) -> None:
    found = kafka.bootstrap_servers.split(",")
    assert found == [kafka.brokers[id].bootstrap for id in (1, 2, 3)]
    assert kafka.port == port_of(kafka, 1)
    for id in (1, 2, 3):
        metadata = ask(kafka.brokers[id].bootstrap, MetadataRequest(topics=None), 9)
        assert sorted((broker.node_id, broker.port) for broker in metadata.brokers) == [
            (each, port_of(kafka, each)) for each in (1, 2, 3)
        ]
        assert [*metadata.topics[0].partitions[0].isr_nodes] == kafka.isr("t", 0)


def test_cluster_spreads_leaders_and_keeps_records(kafka: KafkaDouble) -> None:
    assert [kafka.produce("t", value) for value in "ab"] == [0, 1]
    assert values(kafka) == [b"a", b"b"]
    kafka.create_topic("wide", 6)
    assert {kafka.leader("wide", index) for index in range(6)} == {1, 2, 3}
    for number in range(6):
        kafka.produce("wide", str(number), partition=number)
    assert [record.value for record in kafka.records("wide")] == [b"%d" % number for number in range(6)]
    with pytest.raises(KafkaError, match="INVALID_REPLICATION_FACTOR"):
        kafka.create_topic("four", replication_factor=4)
    kafka.delete_topic("wide")
    with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
        kafka.records("wide")
    kafka.produce("made", "by itself")
    assert kafka.isr("made", 0) == [kafka.leader("made", 0)], "default.replication.factor is 1"


def test_internal_topics_have_as_many_replicas_as_there_are_brokers_up_to_three(kafka: KafkaDouble) -> None:
    kafka.move_coordinator("g", to=2)
    assert kafka.isr("__consumer_offsets", 0) == [1, 2, 3]


def test_a_killed_leader_is_followed_when_its_session_is_over(kafka: KafkaDouble) -> None:
    kafka.produce("t", "a")
    first = kafka.wait_for_leader("t", 0)
    kafka.brokers[first].kill()
    assert not kafka.brokers[first].running
    with pytest.raises(ConnectionRefusedError):
        ask(kafka.brokers[first].bootstrap, MetadataRequest(topics=None), 9)
    kafka.advance(5)
    assert kafka.leader("t", 0) == first
    with pytest.raises(KafkaError, match=f"LEADER_NOT_AVAILABLE: broker {first}, which does not answer"):
        kafka.records("t")
    kafka.advance(SESSION_S)
    second = kafka.wait_for_leader("t", 0)
    assert second != first
    assert kafka.isr("t", 0) == sorted({1, 2, 3} - {first})
    assert values(kafka) == [b"a"]
    assert kafka.produce("t", "b") == 1
    kafka.brokers[first].start()
    kafka.advance(LAG_S)
    assert kafka.isr("t", 0) == [1, 2, 3]
    kafka.move_leader("t", 0, to=first)
    assert values(kafka) == [b"a", b"b"], "its log was kept, and what it missed has come"


def test_a_broker_that_is_started_within_its_session_waits_for_the_end_of_that(kafka: KafkaDouble) -> None:
    first = kafka.wait_for_leader("t", 0)
    kafka.brokers[first].kill()
    kafka.brokers[first].start()
    kafka.advance(1)
    assert len(kafka.isr("t", 0)) == 3
    kafka.advance(SESSION_S + 2)
    kafka.advance(LAG_S)
    assert kafka.isr("t", 0) == [1, 2, 3]
    assert kafka.leader_epoch("t", 0) > 0


def test_a_broker_that_stops_hands_over_first(kafka: KafkaDouble) -> None:
    kafka.produce("t", "a")
    first = kafka.wait_for_leader("t", 0)
    kafka.brokers[first].stop()
    assert kafka.leader("t", 0) != first
    assert kafka.produce("t", "b") == 1
    kafka.brokers[first].start()
    kafka.advance(SESSION_S + 1)
    assert kafka.isr("t", 0) == [1, 2, 3]


def test_a_paused_broker_is_fenced_and_comes_back(kafka: KafkaDouble) -> None:
    first = kafka.wait_for_leader("t", 0)
    kafka.brokers[first].pause()
    kafka.advance(SESSION_S)
    second = kafka.wait_for_leader("t", 0)
    assert second != first
    kafka.produce("t", "a")
    kafka.brokers[first].resume()
    kafka.advance(LAG_S)
    assert kafka.isr("t", 0) == [1, 2, 3]
    assert (
        ask(kafka.brokers[first].bootstrap, MetadataRequest(topics=None), 9).topics[0].partitions[0].leader_id == second
    )


def test_records_of_an_isolated_leader_are_truncated_when_it_joins(kafka: KafkaDouble) -> None:
    """Clients still reach the leader: the records that they wrote with acks=1 were never committed
    (KIP-101)."""
    kafka.produce("t", "a")
    first = kafka.wait_for_leader("t", 0)
    kafka.brokers[first].isolate()
    assert produce(kafka.brokers[first].bootstrap, "t", b"lost", acks=1)[0] == 0
    kafka.advance(SESSION_S)
    assert kafka.leader("t", 0) != first
    assert kafka.produce("t", "b") == 1
    kafka.brokers[first].join()
    kafka.advance(LAG_S)
    assert kafka.isr("t", 0) == [1, 2, 3]
    kafka.move_leader("t", 0, to=first)
    assert values(kafka) == [b"a", b"b"]


def test_a_follower_that_is_isolated_falls_out(kafka: KafkaDouble) -> None:
    follower = next(id for id in kafka.isr("t", 0) if id != kafka.leader("t", 0))
    kafka.brokers[follower].isolate()
    with pytest.raises(KafkaError, match="REQUEST_TIMED_OUT: this takes time, and the clock is stopped"):
        kafka.produce("t", "a")
    kafka.advance(LAG_S)
    assert follower not in kafka.isr("t", 0)
    assert values(kafka) == [b"a"]


def test_leaders_are_moved(kafka: KafkaDouble) -> None:
    kafka.produce("t", "a")
    for to in (2, 3, 1, 1):
        epoch = kafka.move_leader("t", 0, to=to)
        assert (kafka.leader("t", 0), kafka.leader_epoch("t", 0)) == (to, epoch)
    assert kafka.produce("t", "b") == 1
    with pytest.raises(KafkaError, match=r"REPLICA_NOT_AVAILABLE: broker 9 has no replica of t-0: brokers .* have"):
        kafka.move_leader("t", 0, to=9)
    kafka.brokers[2].kill()
    kafka.advance(SESSION_S)
    with pytest.raises(KafkaError, match="ELIGIBLE_LEADERS_NOT_AVAILABLE: broker 2 does not run: start it first"):
        kafka.move_leader("t", 0, to=2)
    for call in (kafka.leader, kafka.isr, kafka.unclean_election):
        with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION: there is no t-1"):
            call("t", 1)


def test_truncation_of_a_cluster_reaches_the_followers(kafka: KafkaDouble) -> None:
    for value in "abc":
        kafka.produce("t", value)
    epoch = kafka.leader_epoch("t", 0)
    assert kafka.bump_epoch("t", 0) == epoch + 1
    assert kafka.truncate("t", 0, 2) == epoch + 2
    assert kafka.leader_epoch("t", 0) == epoch + 2
    assert values(kafka) == [b"a", b"b"]
    assert kafka.produce("t", "d") == 2
    expected = kafka.epochs("t", 0)
    for to in (1, 2, 3):
        kafka.move_leader("t", 0, to=to)
        assert values(kafka) == [b"a", b"b", b"d"], "followers cut theirs, too"
        assert expected.items() <= kafka.epochs("t", 0).items()


def test_requests_of_all_brokers_are_seen_and_none_between_them(kafka: KafkaDouble) -> None:
    kafka.advance(5)
    kafka.requests.clear()
    for id in (3, 1):
        ask(kafka.brokers[id].bootstrap, MetadataRequest(topics=None), 9)
    assert [(seen.api, seen.broker) for seen in kafka.requests] == [("Metadata", 3), ("Metadata", 1)]


def test_rules_hold_at_all_brokers_or_at_one(kafka: KafkaDouble) -> None:
    def fails(id: int) -> bool:
        try:
            ask(kafka.brokers[id].bootstrap, MetadataRequest(topics=None), 9)
        except ConnectionError:
            return True
        return False

    with kafka.disconnect("Metadata", times=2) as rule:
        assert [fails(id) for id in (1, 2, 3)] == [True, True, False]
        assert rule.hits == 2
    with kafka.disconnect("Metadata", times=None, broker=2) as rule:
        assert [fails(id) for id in (1, 2, 3)] == [False, True, False]
        kafka.brokers[2].stop()
        kafka.brokers[2].start()
        # The session of the broker's previous run expires.
        kafka.advance(10)
        hits = rule.hits
        assert fails(2)
        assert rule.hits == hits + 1
    assert not fails(2)


def test_clients_are_refused_until_a_broker_is_part_of_the_cluster(kafka: KafkaDouble) -> None:
    kafka.brokers[2].stop()
    kafka.brokers[2].start()
    with pytest.raises(ConnectionRefusedError):
        ask(kafka.brokers[2].bootstrap, MetadataRequest(topics=None), 9)
    # The session of the broker's previous run expires.
    kafka.advance(10)
    metadata = ask(kafka.brokers[2].bootstrap, MetadataRequest(topics=None), 9)
    assert [broker.node_id for broker in metadata.brokers] == [1, 2, 3]


def test_the_same_seed_gives_the_same_cluster() -> None:
    found = []
    for _ in range(2):
        with KafkaDouble(brokers=2, stepped=True, seed=7) as kafka:
            kafka.create_topic("t", 4, replication_factor=2)
            found.append([kafka.leader("t", index) for index in range(4)])
    assert found[0] == found[1]


def test_metrics_are_those_of_the_controller(kafka: KafkaDouble) -> None:
    with KafkaDouble() as one:
        assert kafka.metrics.keys() == one.metrics.keys()


def test_cluster_keeps_its_data_in_directories(tmp_path: Path) -> None:
    for start in range(2):
        with KafkaDouble(brokers=3, stepped=True, data_dir=tmp_path) as kafka:
            if start == 0:
                kafka.create_topic("t", replication_factor=3)
            assert kafka.produce("t", "a") == start
            kafka.advance(1)
            assert len(kafka.isr("t", 0)) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broker-1", "broker-2", "broker-3", "controller"]
    with pytest.raises(UsageError, match="is the data directory of a single node"):
        KafkaDouble(brokers=2, data_dir=tmp_path / "broker-1").start()


def test_a_single_broker_is_no_cluster() -> None:
    with KafkaDouble() as kafka:
        assert list(kafka.brokers) == [1]
        with pytest.raises(UsageError, match="single broker"):
            kafka.brokers[1].isolate()
        kafka.create_topic("t")
        assert (kafka.leader("t", 0), kafka.isr("t", 0)) == (1, [1])
        assert kafka.move_leader("t", 0, to=1) == 0
