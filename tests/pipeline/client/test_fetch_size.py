"""How many bytes a Fetch asks for: enough for the rest of the range, and hardly more."""

from __future__ import annotations

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.pipeline.client import TopicPartition
from kafkadouble.pipeline.client import fetch_size as sizes
from kafkadouble.pipeline.client.fetch_size import FIRST_BYTES, LEAST_BYTES, Batches, FetchSizes
from tests.support.pipeline_client import batch, client_of, read

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
EVEN = Batches(4, 40_000, 10_000, 200)
"""Of 10,000 bytes and 50 offsets each."""


@pytest.mark.parametrize(
    ("offsets", "at_batch_start", "expected"),
    [
        (1, True, LEAST_BYTES),
        (50, True, LEAST_BYTES),
        (54, True, LEAST_BYTES),
        (60, True, 20_000),
        (100, True, 20_000),
        (100, False, 20_000),
        (149, False, 20_000),
        (1000, True, 200_000),
    ],
)
def test_as_many_batches_as_the_rest_takes(offsets: int, at_batch_start: bool, expected: int) -> None:
    sizes = FetchSizes()
    sizes.note(T0, EVEN)
    assert sizes.size_bytes(T0, offsets, at_batch_start=at_batch_start) == expected


def test_first_fetch_of_a_partition_has_a_small_size() -> None:
    sizes = FetchSizes()
    sizes.note(T0, EVEN)
    assert sizes.size_bytes(T1, 1_000_000, at_batch_start=True) == FIRST_BYTES


def test_the_largest_batch_has_room() -> None:
    sizes = FetchSizes()
    sizes.note(T0, Batches(4, 40_000, 13_000, 200))
    assert sizes.size_bytes(T0, 100, at_batch_start=True) == 10_000 + 13_000


def test_partitions_are_forgotten_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "MOST_PARTITIONS", 1)
    found = FetchSizes()
    for each in (T0, T1):
        found.note(each, EVEN)
    asked = [found.size_bytes(each, 1000, at_batch_start=True) for each in (T0, T1)]
    assert asked == [FIRST_BYTES, 200_000]


def test_fetch_requests_no_more_bytes_than_remain(double: KafkaDouble) -> None:
    """Twenty batches of ten records; the caller wants half of them, and bounds nothing."""
    with client_of(double.bootstrap_servers) as client:
        made = batch(*(b"%0900d" % number for number in range(10)))
        client.producer().send({T0: [made] * 20})
        assert len(read(client, T0, 0, 100)) >= 100
        assert len(read(client, T0, 100, 150)) >= 50
    asked = [each.body.topics[0].partitions[0].partition_max_bytes for each in double.requests.of("Fetch")]
    assert asked == [FIRST_BYTES, 9 * len(made), 5 * len(made)]


def test_fetch_size_is_bounded_by_max_bytes(double: KafkaDouble) -> None:
    with client_of(double.bootstrap_servers) as client:
        client.producer().send({T0: [batch(b"v" * 5000)] * 20})
        assert len(read(client, T0, 0, 20, max_bytes=12_000)) == 20
    asked = {each.body.topics[0].partitions[0].partition_max_bytes for each in double.requests.of("Fetch")}
    assert max(asked) == 12_000


def test_a_setting_bounds_the_requested_size(double: KafkaDouble) -> None:
    with client_of(double.bootstrap_servers, max_partition_fetch_bytes=2000) as client:
        client.producer().send({T0: [batch(b"v" * 5000)] * 3})
        assert len(read(client, T0, 0, 3)) == 3
    asked = [each.body.topics[0].partitions[0].partition_max_bytes for each in double.requests.of("Fetch")]
    assert max(asked) == 2000


def test_a_broker_never_waits_for_more_than_it_may_send(double: KafkaDouble) -> None:
    with client_of(double.bootstrap_servers, fetch_min_bytes=1_000_000, fetch_max_wait_ms=100) as client:
        client.producer().send({T0: [batch(b"v" * 5000)] * 3})
        assert len(read(client, T0, 0, 3)) == 3
    asked = [
        (each.body.min_bytes, each.body.topics[0].partitions[0].partition_max_bytes)
        for each in double.requests.of("Fetch")
    ]
    assert asked
    assert all(least <= most for least, most in asked)
