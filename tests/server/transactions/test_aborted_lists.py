"""The lists of aborted transactions in the answer to one Fetch of two partitions."""

from __future__ import annotations

from kafkadouble.messages.generated.fetch import FetchRequest
from tests.server.transactions.broker import Broker


def lists(broker: Broker, max_bytes: int) -> list[list[int] | None]:
    """The first offsets that the answer lists for each partition of "t"."""
    of = FetchRequest
    partitions = [of.FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1) for index in (0, 1)]
    body = of(
        max_bytes=max_bytes, max_wait_ms=0, isolation_level=1, topics=[of.FetchTopic(topic="t", partitions=partitions)]
    )
    found = broker.ask(body, 12).responses[0].partitions
    assert len(bytes(found[0].records)) > 1
    assert not found[1].records
    return [each.aborted_transactions and [one.first_offset for one in each.aborted_transactions] for each in found]


def with_aborted(broker: Broker) -> Broker:
    for id in ("one", "two"):
        producer = broker.producer(id)
        assert producer.send(b"v", index=0) == 0
        assert producer.send(b"v", index=1) == 0
        assert producer.end(commit=False) == 0
    return broker


def test_a_fetch_lists_transactions_after_the_batch_that_it_returns(broker: Broker) -> None:
    assert lists(with_aborted(broker), 1)[0] == [0, 2]


def test_a_partition_for_which_no_byte_is_left_lists_its_aborted_transactions(broker: Broker) -> None:
    assert lists(with_aborted(broker), 1)[1] == [0, 2]


def test_a_partition_whose_batch_is_left_out_has_no_list(broker: Broker) -> None:
    """As in Kafka: null, not an empty list."""
    assert lists(with_aborted(broker), 1000)[1] is None
