"""Whole lives of transactional producers on one broker: commit, abort, time-out, expiry, and what a
reader sees meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.server.transactions.transaction_state import COMPLETE_ABORT, ONGOING, PREPARE_ABORT
from tests.server.transactions.broker import ABORT_MS, Broker
from tests.support.transactional_producer import TransactionalProducer, committed_offset, committed_values, fetched

AS_FENCED = {1: codes.PRODUCER_FENCED, 2: codes.INVALID_PRODUCER_EPOCH}
"""Version -> the error of `send`: of AddPartitionsToTxn, or of Produce."""


class TestEnds:
    def test_an_open_transaction_holds_the_last_stable_offset(self, broker: Broker, version: int) -> None:
        first, second = broker.producer("first", version=version), broker.producer("second", version=version)
        assert [first.send(b"1"), second.send(b"2"), second.end(commit=True)] == [0, 0, 0]
        shown = fetched(broker.ask)
        assert (shown.last_stable_offset, shown.high_watermark, bytes(shown.records or b"")) == (0, 3, b"")
        assert len(bytes(fetched(broker.ask, isolation=0).records)) > 0
        assert first.end(commit=False) == 0
        assert fetched(broker.ask).last_stable_offset == 4
        assert committed_values(broker.ask) == [b"2"]


class TestZombies:
    def test_a_producer_that_knows_its_epoch_continues(self, broker: Broker, version: int) -> None:
        producer = broker.producer(version=version)
        zombie_epoch = producer.epoch
        assert producer.init(keep=True) == 0
        assert producer.epoch == zombie_epoch + 1
        producer.epoch = zombie_epoch
        assert producer.init(keep=True) == 0, "it repeats a request whose answer was lost"
        assert producer.epoch == zombie_epoch + 1
        assert producer.init() == 0
        producer.epoch = zombie_epoch
        assert producer.init(keep=True) == codes.PRODUCER_FENCED


class TestTimeOut:
    def test_transaction_timeout_aborts_and_fences_the_producer(self, broker: Broker, version: int) -> None:
        producer = broker.producer(version=version, timeout_ms=25_000)
        assert [producer.send(b"a"), producer.send_offset(1)] == [0, 0]
        for _ in range(2):
            broker.tick(ABORT_MS)
        assert broker.state() is ONGOING
        broker.tick(ABORT_MS)
        assert broker.state() is COMPLETE_ABORT
        assert committed_values(broker.ask) == []
        assert committed_offset(broker.ask) == (0, -1)
        assert fetched(broker.ask).last_stable_offset == broker.partition("t").log.high_watermark
        # In version 2 a request with the epoch before is a repeated one.
        fenced = codes.PRODUCER_FENCED if version == 1 else codes.INVALID_TXN_STATE
        assert (producer.end(commit=True), producer.send(b"b")) == (fenced, AS_FENCED[version])
        again = TransactionalProducer(broker.ask, version=version)
        assert again.init() == 0
        assert again.producer_id == producer.producer_id
        assert again.epoch > producer.epoch
        assert [again.send(b"c"), again.end(commit=True)] == [0, 0]
        assert committed_values(broker.ask) == [b"c"]

    def test_other_producers_are_not_concerned(self, broker: Broker) -> None:
        slow, quick = broker.producer("slow"), broker.producer("quick", timeout_ms=1)
        assert [slow.send(b"slow"), quick.send(b"quick")] == [0, 0]
        broker.tick(ABORT_MS)
        assert (broker.state("slow"), broker.state("quick")) == (ONGOING, COMPLETE_ABORT)
        assert slow.end(commit=True) == 0
        assert committed_values(broker.ask) == [b"slow"]

    def test_failed_abort_does_not_stop_the_search_for_timeouts(
        self, broker: Broker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        producer = broker.producer(timeout_ms=1)
        assert producer.send(b"a") == 0
        shard = broker.node.transactions.shard("app")
        with monkeypatch.context() as patched:
            patched.setattr(shard, "_append", _raise)
            broker.tick(ABORT_MS)
        entry = shard.entries["app"]
        assert (entry.metadata.state, entry.pending_state) == (ONGOING, None)
        assert "was not written" in caplog.text
        broker.tick(ABORT_MS)
        assert broker.state() is COMPLETE_ABORT


def _raise(*_: Any) -> Any:
    raise ValueError("no append")


@pytest.mark.parametrize("refuse", [codes.NOT_LEADER_OR_FOLLOWER, codes.NOT_ENOUGH_REPLICAS])
def test_a_marker_is_sent_until_it_is_written(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, refuse: int, version: int
) -> None:
    from kafkadouble.server.handlers import write_txn_markers

    producer = broker.producer(version=version)
    assert producer.send(b"a") == 0
    refused = _refusing(refuse)
    with monkeypatch.context() as patched:
        patched.setattr(write_txn_markers, "_write", refused)
        assert producer.end(commit=False) == 0
        broker.tick(200)
        assert broker.state() is PREPARE_ABORT
        assert producer.init() == codes.CONCURRENT_TRANSACTIONS
    broker.tick(50)
    assert broker.state() is COMPLETE_ABORT
    assert producer.init() == 0


def _refusing(code: int) -> Callable[..., int]:
    return lambda *_: code


class TestNextTransaction:
    """The producer begins its next transaction while the markers of the last one are missing."""

    @pytest.fixture
    def producer(self, broker: Broker, monkeypatch: pytest.MonkeyPatch) -> TransactionalProducer:
        from kafkadouble.server.handlers import write_txn_markers

        producer = broker.producer()
        assert producer.send(b"a") == 0
        monkeypatch.setattr(write_txn_markers, "_write", _refusing(codes.NOT_LEADER_OR_FOLLOWER))
        assert producer.end(commit=True) == 0
        return producer

    def test_the_broker_waits_for_a_client_of_version_2(
        self, broker: Broker, producer: TransactionalProducer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pending = broker.begin(producer.produce_request(b"b"), 12)
        broker.tick(19)
        assert not pending.done
        monkeypatch.undo()
        broker.tick(31)
        broker.tick(20)
        assert pending.response.responses[0].partition_responses[0].error_code == 0
        assert producer.end(commit=True) == 0
        assert committed_values(broker.ask) == [b"a", b"b"]

    def test_transaction_does_not_stay_open_for_ever(self, broker: Broker, producer: TransactionalProducer) -> None:
        pending = broker.begin(producer.produce_request(b"b"), 12)
        for _ in range(10):
            broker.tick(20)
        assert pending.response.responses[0].partition_responses[0].error_code == codes.CONCURRENT_TRANSACTIONS
        assert broker.partition("t").log.log_end_offset == 1
