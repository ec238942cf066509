"""Every fault rule for connections, links and disks, as clients of two languages notice it: a
producer meets it and comes through, and each record is there once.

The double runs in this process, so that a test can arm rules. Each test arms a rule while the
client has connections, and again before it has any.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from interop.brokers import Broker
from interop.clients import Client
from interop.clients.shape import Partition, Record
from interop.support import short_timeout
from kafkadouble import KafkaDouble, RuleHandle

pytestmark = pytest.mark.needs("faults")

FLUSHED = {"flush.messages": 1}


ACTIONS: dict[str, Callable[[KafkaDouble], RuleHandle]] = {
    "refuse connections": lambda double: double.refuse_connections(times=1),
    "latency": lambda double: double.latency(0.05, jitter=0.05),
    "bandwidth": lambda double: double.bandwidth(5000),
    "slice frames": lambda double: double.slice_frames(11, gap=0.001),
    "reset after": lambda double: double.reset_after(100, times=1),
    "half open": lambda double: double.half_open(times=1),
    "slow close": lambda double: double.slow_close(0.1),
}


AT_THE_BEGINNING = [name for name in ACTIONS if name != "half open"]
"""A client that finds its first connection half-open waits for it longer than a test may take."""

WITH_CONNECTIONS = [name for name in ACTIONS if name not in ("refuse connections", "slow close")]

REPORTED = {("aiokafka", "refuse connections"), ("aiokafka", "reset after")}
"""aiokafka tries its bootstrap servers once, and reports when it cannot connect to any."""


def values(double: KafkaDouble) -> list[bytes | None]:
    return [record.value for record in double.records("t")]


@pytest.mark.parametrize("action", AT_THE_BEGINNING)
def test_a_new_client_comes_through(double: KafkaDouble, client: Client, action: str) -> None:
    with ACTIONS[action](double) as rule:
        if (client.name, action) in REPORTED:
            with pytest.raises(Exception, match="Unable to bootstrap"):
                send(double, client)
        else:
            assert send(double, client) == [0]
        rule.wait()
    if (client.name, action) in REPORTED:
        assert send(double, client) == [0]
    assert values(double) == [b"0"]


def send(double: KafkaDouble, client: Client) -> list[int]:
    """Sends one record by a new producer: its offset."""
    with client.producer(double.bootstrap_servers, enable_idempotence=True, **short_timeout(client)) as producer:
        offsets: list[int] = producer.send("t", [Record(b"0")])
    return offsets


@pytest.mark.parametrize("action", WITH_CONNECTIONS)
def test_a_client_that_is_connected_comes_through(double: KafkaDouble, client: Client, action: str) -> None:
    with client.producer(double.bootstrap_servers, enable_idempotence=True, **short_timeout(client)) as producer:
        assert producer.send("t", [Record(b"0")]) == [0]
        with ACTIONS[action](double) as rule:
            assert producer.send("t", [Record(b"1")]) == [1]
            rule.wait()
        assert producer.send("t", [Record(b"2")]) == [2]
    assert values(double) == [b"0", b"1", b"2"]


def test_latency_is_that_of_the_brokers_clock(broker: Broker, client: Client) -> None:
    with KafkaDouble(stepped=True) as double:
        double.create_topic("t")
        with client.producer(double.bootstrap_servers) as producer, ThreadPoolExecutor(1) as pool:
            producer.send("t", [Record(b"0")])
            rule = double.latency(5)
            sent = pool.submit(producer.send, "t", [Record(b"1")])
            rule.wait()
            double.advance(4)
            assert values(double) == [b"0"]
            double.advance(1)
            assert values(double) == [b"0", b"1"]
            assert not sent.done()
            double.advance(5)
            assert sent.result(30) == [1]


def test_half_open_holds_a_producer_until_it_is_released(double: KafkaDouble, client: Client) -> None:
    with client.producer(double.bootstrap_servers) as producer, ThreadPoolExecutor(1) as pool:
        producer.send("t", [Record(b"0")])
        rule = double.half_open()
        sent = pool.submit(producer.send, "t", [Record(b"1")])
        rule.wait()
        assert values(double) == [b"0"]
        rule.release()
        assert sent.result(30) == [1]


def test_a_consumer_reads_through_slices(double: KafkaDouble, client: Client) -> None:
    double.produce("t", b"x" * 3000)
    with (
        double.slice_frames(100, gap=0.001) as rule,
        client.consumer(double.bootstrap_servers, partitions=[Partition("t", 0)]) as consumer,
    ):
        assert [one.value for one in consumer.read(1)] == [b"x" * 3000]
        assert rule.hits > 0


def test_refused_connections_end_with_the_rule(double: KafkaDouble, client: Client) -> None:
    with ThreadPoolExecutor(1) as pool:
        rule = double.refuse_connections()
        sent = pool.submit(send, double, client)
        rule.wait()
        assert values(double) == []
        rule.release()
        if client.name == "aiokafka":
            with pytest.raises(Exception, match="Unable to bootstrap"):
                sent.result(60)
            assert send(double, client) == [0]
        else:
            assert sent.result(60) == [0]


FAILING_DISKS: dict[str, Callable[[KafkaDouble, int], RuleHandle]] = {
    "disk full": lambda double, broker: double.disk_full(broker=broker),
    "disk error": lambda double, broker: double.disk_error(broker=broker),
}


@pytest.mark.parametrize("action", FAILING_DISKS)
def test_a_producer_follows_the_leader_away_from_a_disk(
    broker: Broker, client: Client, action: str, tmp_path: Path
) -> None:
    config = {"broker.session.timeout.ms": 1000, "broker.heartbeat.interval.ms": 200}
    with KafkaDouble(brokers=3, data_dir=tmp_path, config=config) as double:
        double.create_topic("t", replication_factor=3)
        leader = double.leader("t", 0) or 0
        with client.producer(double.bootstrap_servers, enable_idempotence=True) as producer:
            assert producer.send("t", [Record(b"0")]) == [0]
            with FAILING_DISKS[action](double, leader) as rule:
                assert producer.send("t", [Record(b"1")]) == [1]
                assert rule.hits == 1
        assert double.leader("t", 0) != leader
        assert values(double) == [b"0", b"1"]


def test_a_producer_waits_for_a_slow_disk(broker: Broker, client: Client, tmp_path: Path) -> None:
    with KafkaDouble(stepped=True, data_dir=tmp_path) as double:
        double.create_topic("t", config=FLUSHED)
        with client.producer(double.bootstrap_servers) as producer, ThreadPoolExecutor(1) as pool:
            assert producer.send("t", [Record(b"0")]) == [0]
            with double.disk_slow(5, topic="t") as rule:
                sent = pool.submit(producer.send, "t", [Record(b"1")])
                rule.wait()
                double.advance(4)
                assert not sent.done()
                double.advance(1)
                assert sent.result(30) == [1]


def test_a_record_whose_flush_was_lost_is_gone(broker: Broker, client: Client, tmp_path: Path) -> None:
    with KafkaDouble(stepped=True, brokers=2, data_dir=tmp_path) as double:
        double.create_topic("t", config=FLUSHED)
        leader = double.brokers[double.leader("t", 0) or 0]
        double.lose_flushes(topic="t")
        assert send(double, client) == [0]
        leader.kill()
        leader.start()
        double.advance(60)
        assert values(double) == []
        assert send(double, client) == [0]  # the offset is given again


LINKS: dict[str, Callable[[KafkaDouble], RuleHandle]] = {
    "latency": lambda double: double.latency(0.02, jitter=0.01, link=(1, 2), both_ways=True),
    "bandwidth": lambda double: double.bandwidth(20_000, link=(1, 2)),
    "slice frames": lambda double: double.slice_frames(100, gap=0.001, link=(2, 1)),
    "reset after": lambda double: double.reset_after(300, link=(2, 1), times=1),
    "half open": lambda double: double.half_open(link=(2, 1), for_seconds=0.3),
}


@pytest.mark.parametrize("action", LINKS)
def test_a_producer_comes_through_a_disturbed_link(broker: Broker, client: Client, action: str) -> None:
    with KafkaDouble(brokers=2) as double:
        double.create_topic("t", replication_factor=2)
        double.move_leader("t", 0, to=1)
        with client.producer(double.bootstrap_servers, acks="all") as producer:
            assert producer.send("t", [Record(b"0")]) == [0]
            with LINKS[action](double) as rule:
                assert producer.send("t", [Record(b"1")]) == [1]
                rule.wait()
        assert values(double) == [b"0", b"1"]


def test_a_producer_waits_for_a_link_between_replicas(broker: Broker, client: Client) -> None:
    config = {"replica.lag.time.max.ms": 500}
    with KafkaDouble(brokers=2, config=config) as double:
        double.create_topic("t", replication_factor=2)
        double.move_leader("t", 0, to=1)
        with client.producer(double.bootstrap_servers, acks="all") as producer, double.half_open(link=(1, 2)) as rule:
            assert producer.send("t", [Record(b"0")]) == [0]
            assert double.isr("t", 0) == [1]
            assert rule.hits > 0
        assert values(double) == [b"0"]
