"""Markers on their way: what each answer of a leader does, and which requests are made."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.write_txn_markers import WriteTxnMarkersResponse
from kafkadouble.server.handlers import write_txn_markers
from kafkadouble.server.raft.request_manager import RequestFailure
from kafkadouble.server.transactions.pending_complete_txn import PendingCompleteTxn
from kafkadouble.server.transactions.transaction_marker_channel_manager import (
    NEEDLESS,
    OUTDATED,
    RETRIABLE,
    RETRY_MS,
    TransactionMarkerChannelManager,
    TxnMarkers,
)
from kafkadouble.server.transactions.transaction_metadata import prepare_complete
from kafkadouble.server.transactions.transaction_state import COMPLETE_COMMIT, ONGOING, PREPARE_COMMIT
from tests.server.transactions.broker import Broker
from tests.support.transactional_producer import TransactionalProducer, committed_values

T0, T1 = ("t", 0), ("t", 1)


def response(producer_id: int, found: dict[tuple[str, int], int]) -> WriteTxnMarkersResponse:
    of = WriteTxnMarkersResponse
    topics = [
        of.WritableTxnMarkerTopicResult(
            name=topic, partitions=[of.WritableTxnMarkerPartitionResult(partition_index=index, error_code=code)]
        )
        for (topic, index), code in found.items()
    ]
    return of(markers=[of.WritableTxnMarkerResult(producer_id=producer_id, topics=topics)])


class Sent:
    """A transaction of two partitions whose markers were sent, and are not answered yet."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.markers: TransactionMarkerChannelManager = broker.node.transactions.markers
        self.producer: TransactionalProducer = broker.producer(version=1)
        assert [self.producer.send(b"a"), self.producer.send(b"b", index=1)] == [0, 0]
        self.markers._busy.add(broker.node.id)
        assert self.producer.end(commit=True) == 0
        self.items: Any = self.markers.next_request(broker.node.id).items

    def answer(self, answered: Any) -> None:
        self.markers._busy.clear()
        self.markers.on_response(self.broker.node.id, self.items, answered)

    def codes(self, first: int, second: int) -> None:
        self.answer(response(self.producer.producer_id, {T0: first, T1: second}))

    @property
    def left(self) -> set[tuple[str, int]]:
        return set(self.broker.metadata().topic_partitions)


@pytest.fixture
def sent(broker: Broker) -> Sent:
    return Sent(broker)


def test_the_request_names_all_partitions_of_one_leader(broker: Broker) -> None:
    first, second = broker.producer("first"), broker.producer("second")
    assert [first.send(b"a"), first.send(b"b", index=1), second.send(b"c")] == [0, 0, 0]
    markers, id = broker.node.transactions.markers, broker.node.id
    markers._busy.add(id)
    assert [first.end(commit=True), second.end(commit=False)] == [0, 0]
    request = markers.next_request(id)
    assert (request.version, request.lowest) == (2, 1)
    found = {
        marker.producer_id: (
            marker.producer_epoch,
            marker.transaction_result,
            [(topic.name, list(topic.partition_indexes)) for topic in marker.topics],
            marker.transaction_version,
        )
        for marker in request.body.markers  # type: ignore[attr-defined]  # a WriteTxnMarkersRequest
    }
    assert found == {
        first.producer_id: (1, True, [("t", [0, 1])], 2),
        second.producer_id: (1, False, [("t", [0])], 2),
    }
    assert list(markers.destinations()) == []


@pytest.mark.parametrize("code", sorted(NEEDLESS))
def test_a_partition_that_needs_no_more(sent: Sent, code: int) -> None:
    sent.codes(code, codes.NONE)
    assert sent.broker.state() is COMPLETE_COMMIT


@pytest.mark.parametrize("code", sorted(RETRIABLE))
def test_only_the_partition_that_failed_is_sent_again(sent: Sent, code: int) -> None:
    sent.codes(code, codes.NONE)
    assert (sent.broker.state(), sent.left) == (PREPARE_COMMIT, {T0})
    sent.broker.tick(RETRY_MS)
    assert sent.broker.state() is COMPLETE_COMMIT
    assert (committed_values(sent.broker.ask), committed_values(sent.broker.ask, index=1)) == ([b"a"], [])


@pytest.mark.parametrize("code", sorted(OUTDATED))
def test_later_coordinator_ends_the_writing_of_markers(sent: Sent, code: int) -> None:
    """The leader knows a later coordinator, or a later producer. As in Kafka, the id stays pending
    here until its partition is loaded again."""
    sent.codes(codes.NONE, code)
    sent.broker.tick(10 * RETRY_MS)
    entry = sent.broker.node.transactions.shard("app").entries["app"]
    assert (entry.metadata.state, entry.pending_state) == (PREPARE_COMMIT, COMPLETE_COMMIT)
    assert (sent.markers._by_broker, sent.markers._delayed) == ({}, [])
    shard = sent.broker.node.transactions.shard("app")
    sent.broker.node.transactions.runtime.on_election(shard.partition)
    assert sent.broker.state() is COMPLETE_COMMIT


def test_an_unexpected_code_is_logged(sent: Sent, caplog: pytest.LogCaptureFixture) -> None:
    sent.codes(codes.NONE, codes.MESSAGE_TOO_LARGE)
    assert "refused the markers for ever" in caplog.text
    assert (sent.broker.state(), sent.left) == (PREPARE_COMMIT, {T1})


@pytest.mark.parametrize("failure", RequestFailure)
def test_a_request_without_an_answer_is_sent_again(sent: Sent, failure: RequestFailure) -> None:
    sent.answer(failure)
    assert sent.left == {T0, T1}
    sent.broker.tick(RETRY_MS - 1)
    assert sent.broker.state() is PREPARE_COMMIT
    sent.broker.tick(1)
    assert sent.broker.state() is COMPLETE_COMMIT


def test_an_answer_without_our_partitions_is_no_answer(sent: Sent) -> None:
    sent.answer(response(sent.producer.producer_id + 1, {T0: 0, T1: 0}))
    assert sent.left == {T0, T1}
    sent.broker.tick(RETRY_MS)
    assert sent.broker.state() is COMPLETE_COMMIT


def test_the_answer_to_a_coordinator_that_was_replaced(sent: Sent) -> None:
    """Its successor has sent its own markers, and begun the next transaction."""
    before = sent.broker.node.transactions.shard("app")
    sent.markers._busy.clear()
    sent.broker.node.transactions.runtime.on_election(before.partition)
    assert sent.broker.state() is COMPLETE_COMMIT
    assert sent.producer.send(b"c") == 0
    sent.codes(codes.NONE, codes.NOT_LEADER_OR_FOLLOWER)
    sent.broker.tick(RETRY_MS)
    assert sent.broker.state() is ONGOING
    assert sent.markers._delayed == []


def test_a_pause_has_one_timer(sent: Sent) -> None:
    entry = sent.broker.node.transactions.shard("app").entries["app"]
    following = prepare_complete(entry.metadata, 0)
    pending = PendingCompleteTxn(sent.broker.node.transactions.shard("app"), entry, True, following)
    for partition in (T0, T1):
        sent.markers._delay(TxnMarkers(pending, frozenset({partition})))
    timer = sent.markers._timer
    assert timer is not None
    sent.markers._busy.clear()
    sent.broker.tick(RETRY_MS)
    assert sent.markers._timer is None
    assert sent.broker.state() is COMPLETE_COMMIT


def test_a_handler_that_breaks_does_not_block_others(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in Kafka, UNKNOWN_SERVER_ERROR ends the work until the partition is loaded again."""

    def fail(*_: Any) -> Any:
        raise RuntimeError("an error of ours")

    producer = broker.producer()
    assert producer.send(b"a") == 0
    with monkeypatch.context() as patched:
        patched.setattr(write_txn_markers, "_write", fail)
        assert producer.end(commit=True) == 0
        assert broker.state() is PREPARE_COMMIT
    broker.tick(RETRY_MS)
    assert broker.state() is PREPARE_COMMIT
    other = broker.producer("other")
    assert [other.send(b"b"), other.end(commit=True)] == [0, 0]
    assert broker.state("other") is COMPLETE_COMMIT
    broker.node.transactions.runtime.on_election(broker.node.transactions.shard("app").partition)
    assert broker.state() is COMPLETE_COMMIT
