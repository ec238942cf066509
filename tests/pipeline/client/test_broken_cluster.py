"""A cluster of which one broker ends in the middle of a read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.pipeline.client import NoLeader, OffsetAndEpoch, TopicPartition
from tests.support.pipeline_client import batch, client_of, read, values

T0, ALONE = TopicPartition("t", 0), TopicPartition("alone", 0)
VALUES = [b"%d" % number for number in range(30)]


class Broken(NamedTuple):
    """What remains: the cluster, the address of the broker that ended, and all values of a read
    that began before it ended."""

    double: KafkaDouble
    gone: str
    found: list[bytes]


@pytest.fixture(scope="module")
def broken() -> Iterator[Broken]:
    with KafkaDouble(brokers=3) as double, client_of(double.bootstrap_servers) as client:
        double.create_topic("alone", replication_factor=1)
        double.create_topic("t", replication_factor=3)
        leader = double.leader(*ALONE)
        assert leader is not None
        if double.leader(*T0) != leader:
            double.move_leader(*T0, to=leader)
        for value in VALUES:
            double.produce("t", value)
        gone = double.brokers[leader].bootstrap
        reading = client.read(T0, 0, 30, max_bytes=1)
        found = values([next(reading).buffer])
        double.brokers[leader].stop()
        yield Broken(double, gone, found + values(fetched.buffer for fetched in reading))


def test_the_read_goes_on_with_the_next_leader(broken: Broken) -> None:
    assert broken.found == VALUES


def test_a_bootstrap_server_that_is_down_is_skipped(broken: Broken) -> None:
    with client_of(f"{broken.gone},{broken.double.bootstrap_servers}") as client:
        assert client.offsets({T0: -1}) == {T0: OffsetAndEpoch(30, broken.double.leader_epoch(*T0))}
        assert read(client, T0, 0, 30) == VALUES


def test_a_partition_without_a_leader_is_named(broken: Broken) -> None:
    hasty = {"default_api_timeout_ms": 200, "delivery_timeout_ms": 200}
    with client_of(broken.double.bootstrap_servers, **hasty) as client:
        with pytest.raises(NoLeader, match=r"offsets: not within 200 ms .*: alone-0 has no leader"):
            client.offsets({ALONE: -1})
        with pytest.raises(NoLeader, match=r"reading alone-0: not within .*: alone-0 has no leader"):
            read(client, ALONE, 0, 1)
        with pytest.raises(NoLeader, match=r"sending: not within .*: alone-0 has no leader"):
            client.producer().send({ALONE: [batch(b"v")]})
