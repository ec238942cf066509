"""What users rely on when a client is beyond its quota: nothing is lost, the client reports that it
is throttled, and everything takes as long as the quota says.

A broker measures over eleven seconds by default: a client may use the quota of ten seconds at once.
Each test throttles a client id of its own.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import confluent_kafka
import confluent_kafka.admin
import pytest

from interop.brokers import Broker
from interop.clients import CREATOR, Client
from interop.clients.shape import Partition, Record
from interop.controllers.admin import BROKER, alter_configs, set_quota
from interop.controllers.admin import quotas as described_quotas
from interop.support import unique
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.describe_configs import DescribeConfigsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.support.client import ask
from tests.support.waiting import PATIENCE, eventually

CREATION_RATE = "max.connection.creation.rate"
ELSEWHERE = "127.0.0.2"
"""An address of this machine that no other test connects from."""

HELLO = bytes.fromhex("0000000e 0012 0000 00000007 0004") + b"test"
"""ApiVersions version 0."""

ck: Any = confluent_kafka
ca: Any = confluent_kafka.admin

RATE, SIZE, COUNT = 50_000, 100_000, 7
"""Bytes per second, bytes of a record, and records: 4 s more than the quota of ten seconds."""

AT_LEAST_S = 3
"""Brokers round, and a client waits a little before it is throttled."""


@contextmanager
def quota(broker: Broker, name: str, kind: str = "client-id", **quotas: float) -> Iterator[None]:
    """A quota of a client id, from when the broker knows it until the end of the block."""
    ((key, value),) = quotas.items()
    set_quota(broker.bootstrap, name, key, value, kind)
    eventually(lambda: described_quotas(broker.bootstrap, name, kind), lambda found: found == quotas)
    try:
        yield
    finally:
        set_quota(broker.bootstrap, name, key, None, kind)


def test_a_producer_takes_as_long_as_its_quota_says(broker: Broker, client: Client, topic: str) -> None:
    name = unique("slow")
    with quota(broker, name, producer_byte_rate=RATE), client.producer(broker.bootstrap, client_id=name) as producer:
        began = time.monotonic()
        for number in range(COUNT):
            assert producer.send(topic, [Record(b"%d" % number * SIZE)]) == [number]
        producer.send(topic, [Record(b"last")])
        assert time.monotonic() - began >= AT_LEAST_S


def test_a_consumer_takes_as_long_as_its_quota_says(broker: Broker, client: Client, topic: str) -> None:
    name = unique("slow")
    with CREATOR.producer(broker.bootstrap) as producer:
        for number in range(COUNT):
            producer.send(topic, [Record(b"%d" % number * SIZE)])
    options = {"client_id": name, "max_partition_fetch_bytes": SIZE}
    with quota(broker, name, consumer_byte_rate=RATE):
        began = time.monotonic()
        with client.consumer(broker.bootstrap, partitions=[Partition(topic, 0)], **options) as consumer:
            seen = consumer.read(COUNT)
        assert [one.offset for one in seen] == list(range(COUNT)), "nothing is lost, and nothing comes twice"
        assert time.monotonic() - began >= AT_LEAST_S


def test_a_client_is_told_its_throttle_time(broker: Broker, topic: str) -> None:
    name, throttled = unique("slow"), list[float]()
    settings = {"bootstrap.servers": broker.bootstrap, "client.id": name, "linger.ms": 0}
    producer = ck.Producer({**settings, "throttle_cb": lambda event: throttled.append(event.throttle_time)})
    with quota(broker, name, producer_byte_rate=RATE):
        for _ in range(COUNT):
            producer.produce(topic, b"x" * SIZE)
            assert producer.flush(PATIENCE) == 0
        eventually(lambda: producer.poll(0.1) or throttled)
    assert 0 < max(throttled) < 10


def test_an_admin_client_of_an_older_version_waits_for_its_quota_of_controller_mutations(
    broker: Broker, name: str
) -> None:
    """librdkafka creates topics in version 4, which cannot be refused for a quota (KIP-599)."""
    slow = unique("slow")
    admin = ca.AdminClient({"bootstrap.servers": broker.bootstrap, "client.id": slow})
    with quota(broker, slow, controller_mutation_rate=5):
        admin.create_topics([ca.NewTopic(f"{name}-0", 75, 1)])[f"{name}-0"].result(PATIENCE)
        began = time.monotonic()
        admin.create_topics([ca.NewTopic(f"{name}-1", 1, 1)])[f"{name}-1"].result(PATIENCE)
        assert time.monotonic() - began >= AT_LEAST_S, "20 partitions too many are 4 s"


def test_topics_beyond_the_quota_of_controller_mutations_are_refused(broker: Broker, name: str) -> None:
    of = CreateTopicsRequest
    topics = [
        of.CreatableTopic(name=f"{name}-{number}", num_partitions=partitions, replication_factor=1)
        for number, partitions in enumerate((75, 1))
    ]
    with quota(broker, "interop", controller_mutation_rate=5):
        made = ask(broker.bootstrap, of(topics=topics, timeout_ms=30_000), 7, "interop")
    assert [one.error_code for one in made.topics] == [error_codes.NONE, error_codes.THROTTLING_QUOTA_EXCEEDED]
    assert 0 < made.throttle_time_ms <= 4000


@pytest.mark.needs("loopback")
def test_connections_from_an_address_beyond_its_quota_are_closed_a_little_later(broker: Broker) -> None:
    host, _, port = broker.bootstrap.split(",")[0].rpartition(":")
    with quota(broker, ELSEWHERE, "ip", connection_creation_rate=1):
        began = time.monotonic()
        socks = [socket.create_connection((host, int(port)), 30, (ELSEWHERE, 0)) for _ in range(15)]
        served = [_is_served(sock) for sock in socks]
        assert time.monotonic() - began >= 0.5, "a client that is refused waits before it tries again"
    assert served == [True] * 10 + [False] * 5


@contextmanager
def _creation_rate(broker: Broker, rate: int) -> Iterator[None]:
    """The limit of the rate of new connections of all brokers, until the end of the block."""
    _set_creation_rate(broker, str(rate))
    try:
        yield
    finally:
        _set_creation_rate(broker, None)


def _set_creation_rate(broker: Broker, value: str | None) -> int:
    """Sets or removes it, and returns the error code."""
    code: int = alter_configs(broker.bootstrap, BROKER, "", {CREATION_RATE: value}).error_code
    shown = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=4, resource_name="1", configuration_keys=[CREATION_RATE]
    )
    if not code:
        expected = value or str(2**31 - 1)
        eventually(
            lambda: ask(broker.bootstrap, DescribeConfigsRequest(resources=[shown]), 4).results[0].configs[0].value,
            lambda found: found == expected,
        )
    return code


def test_connections_beyond_the_rate_of_the_broker_are_served_later_and_none_is_closed(broker: Broker) -> None:
    """The rate is over ten seconds, so 50 connections may come at once."""
    host, _, port = broker.bootstrap.split(",")[0].rpartition(":")
    with _creation_rate(broker, 5):
        began = time.monotonic()
        socks = [socket.create_connection((host, int(port)), 60) for _ in range(60)]
        assert [_is_served(sock) for sock in socks] == [True] * 60
        assert time.monotonic() - began >= 1


@pytest.mark.parametrize("value", ["-1", "many", str(2**31)])
def test_impossible_quota_rate_is_refused(broker: Broker, value: str) -> None:
    assert error_codes.name(_set_creation_rate(broker, value)) == "INVALID_REQUEST"


def _is_served(sock: socket.socket) -> bool:
    with sock:
        try:
            sock.sendall(HELLO)
            return len(sock.recv(4)) > 0
        except ConnectionError:
            return False


def test_a_client_that_takes_too_much_time_is_throttled_for_at_most_one_window(broker: Broker) -> None:
    with quota(broker, "interop", request_percentage=0.01):
        throttle_time_ms = eventually(
            lambda: ask(broker.bootstrap, MetadataRequest(topics=None), 12, "interop").throttle_time_ms, bool, pause=0
        )
        assert 0 < throttle_time_ms <= 1000
