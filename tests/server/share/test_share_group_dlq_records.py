"""What the records of a dead-letter queue hold, and how they become batches (KIP-1191)."""

from __future__ import annotations

import pytest

from kafkadouble.server.share import acknowledgement
from kafkadouble.server.share.share_group_dlq_records import MAX_RECORDS
from kafkadouble.wire.batch import iter_batches
from tests.server.topic_requests import deleting

from .dead_letters import ENABLED, QUEUE, DeadLetterBroker, with_queue


def test_the_headers_say_what_was_given_up() -> None:
    broker = DeadLetterBroker(copies=False)
    broker.create(QUEUE, configs=ENABLED)
    broker.produce(b"a", b"b", partition=3)
    broker.tick(5)
    broker.give_up(0, 1, partition=3, cause=acknowledgement.CLIENT_REJECT)
    broker.tick(0)
    first, second = broker.queued()
    assert (first.key, first.value, first.timestamp) == (None, None, broker.now)
    assert first.headers == (
        ("__dlq.errors.topic", b"t"),
        ("__dlq.errors.partition", b"3"),
        ("__dlq.errors.offset", b"0"),
        ("__dlq.errors.group", b"g"),
        ("__dlq.errors.delivery.count", b"2"),
        ("__dlq.errors.message", b"Offset rejected by client."),
    )
    assert dict(second.headers)["__dlq.errors.offset"] == b"1"
    assert broker.done == 1


@pytest.mark.parametrize("codec", range(5))
def test_key_and_value_are_copied(codec: int) -> None:
    broker = with_queue()
    broker.produce(b"a", b"b", b"c", compression=codec)
    broker.produce(b"d", compression=codec)
    broker.give_up(1, 3)
    broker.tick(0)
    assert [(each.key, each.value) for each in broker.queued()] == [(b"k1", b"b"), (b"k2", b"c"), (b"k0", b"d")]


def test_a_batch_is_no_larger_than_the_topic_takes() -> None:
    """What does not fit follows when the answer has come: more requests than the stack is deep."""
    broker = with_queue(max_message_bytes="400")
    broker.produce(*(b"%d" % number for number in range(400)))
    broker.give_up(0, 399)
    broker.settle()
    assert broker.done == 1
    assert broker.copied() == [(str(number), b"%d" % number) for number in range(400)]
    headers = [header for _, header in iter_batches(broker.bytes_in())]
    assert {header.count for header in headers} == {2}
    assert max(header.size for header in headers) <= 400


def test_the_size_is_that_of_the_broker_if_the_topic_has_none() -> None:
    broker = with_queue({"message.max.bytes": 400})
    broker.give_up(0, 3)
    broker.settle()
    assert [header.count for _, header in iter_batches(broker.bytes_in())] == [2, 2]


def test_a_batch_has_only_so_many_records() -> None:
    broker = with_queue()
    broker.give_up(0, 2 * MAX_RECORDS)
    broker.give_up(7, 8)
    broker.tick(0)
    assert (broker.done, len(broker.queued())) == (0, MAX_RECORDS), "others have their turn"
    broker.settle()
    assert broker.done == 2
    assert [header.count for _, header in iter_batches(broker.bytes_in())] == [MAX_RECORDS, MAX_RECORDS, 3]


def test_a_record_that_is_too_large_is_not_copied() -> None:
    broker = with_queue(max_message_bytes="1000")
    broker.produce(b"a", bytes(1000), b"c")
    broker.give_up(0, 2)
    broker.tick(0)
    assert broker.copied() == [("0", b"a"), ("1", None), ("2", b"c")]


def test_a_batch_that_decompresses_to_too_much_is_not_copied() -> None:
    broker = with_queue(max_message_bytes="1000")
    broker.produce(b"a", bytes(1000), compression=4)
    broker.produce(b"c", compression=4)
    broker.give_up(0, 2)
    broker.tick(0)
    assert broker.copied() == [("0", None), ("1", None), ("2", b"c")]


def test_records_that_are_deleted_have_only_headers() -> None:
    broker = with_queue()
    broker.produce(b"a")
    broker.produce(b"b")
    broker.partition("t").log.delete_records_before(1)
    broker.give_up(0, 2)
    broker.tick(0)
    assert broker.copied() == [("0", None), ("1", b"b"), ("2", None)]


def test_a_topic_that_is_deleted_has_an_id_in_the_headers(caplog: pytest.LogCaptureFixture) -> None:
    """One line in the log for all its records."""
    broker = with_queue()
    broker.produce(b"a", b"b", b"c")
    broker.submit(deleting("t"), 6)
    broker.give_up(0, 2)
    broker.tick(0)
    assert broker.copied() == [("0", None), ("1", None), ("2", None)]
    assert {dict(each.headers)["__dlq.errors.topic"] for each in broker.queued()} == {str(broker.topic_id).encode()}
    assert len([message for message in caplog.messages if "not copied" in message]) == 1


def test_a_record_larger_than_a_batch_ends_it(caplog: pytest.LogCaptureFixture) -> None:
    """The headers alone are too large, so the leader refuses them."""
    broker = with_queue(max_message_bytes="100")
    broker.give_up(0, 5)
    broker.tick(0)
    assert (broker.done, broker.queued()) == (1, [])
    assert "from offset 0 on" in caplog.messages[-1]
