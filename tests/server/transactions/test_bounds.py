"""What ends by itself: unused ids expire, epochs run out, deleted topics need no marker, and
nothing grows without bound."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.server.transactions.transaction_state import COMPLETE_ABORT, COMPLETE_COMMIT, ONGOING
from tests.server.transactions.broker import ABORT_MS, EXPIRE_MS, Broker
from tests.support.transactional_producer import TransactionalProducer, committed_values


class TestExpiry:
    def test_an_unused_id_is_removed_from_memory_and_log(self, broker: Broker, version: int) -> None:
        used, unused = broker.producer("used", version=version), broker.producer("unused", version=version)
        assert [unused.send(b"a"), unused.end(commit=True)] == [0, 0]
        week = 7 * 24
        for hour in range(week + 2):
            broker.tick(EXPIRE_MS)
            if hour % 24 == 0:
                assert [used.send(b"b"), used.end(commit=True)] == [0, 0]
        ids = {id for shard in broker.node.transactions for id in shard.entries}
        assert ids == {"used"}
        for shard in broker.node.transactions:
            broker.node.transactions.runtime.on_election(shard.partition)
        assert {id for shard in broker.node.transactions for id in shard.entries} == {"used"}
        assert unused.send(b"c") == codes.INVALID_PRODUCER_ID_MAPPING
        assert unused.init() == 0
        assert unused.epoch == 0

    def test_many_expire_in_slices(self) -> None:
        broker = Broker({"transaction.state.log.num.partitions": 1})
        for number in range(600):
            broker.producer(f"app{number}")
        broker.tick(7 * 24 * EXPIRE_MS)
        (shard,) = broker.node.transactions
        assert len(shard.entries) == 600 - 256
        assert broker.producer("app599").init() == 0, "it is in use again"
        broker.tick(1)
        assert len(shard.entries) == 600 - 512
        assert len(shard._timers) == 3
        broker.tick(1)
        assert set(shard.entries) == {"app599"}
        assert len(shard._timers) == 2

    def test_an_open_transaction_does_not_expire(self) -> None:
        broker = Broker({"transactional.id.expiration.ms": EXPIRE_MS, "transaction.max.timeout.ms": 2**31 - 1})
        producer = broker.producer(timeout_ms=2**31 - 2)
        assert producer.send(b"a") == 0
        broker.tick(3 * EXPIRE_MS)
        assert broker.state() is ONGOING

    def test_a_tombstone_that_is_not_written_is_written_later(
        self, broker: Broker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        broker.producer()
        shard = broker.node.transactions.shard("app")
        with monkeypatch.context() as patched:
            patched.setattr(shard, "_append", _raise)
            broker.tick(8 * 24 * EXPIRE_MS)
        assert shard.entries["app"].pending_state is None
        broker.tick(EXPIRE_MS)
        assert shard.entries == {}


def _raise(*_: Any) -> Any:
    raise ValueError("no append")


class TestEpochExhaustion:
    def exhausted(self, broker: Broker, epoch: int, **how: Any) -> TransactionalProducer:
        """A producer of a late epoch."""
        producer = broker.producer(**how)
        entry = broker.node.transactions.shard("app").entries["app"]
        entry.metadata = entry.metadata._replace(producer_epoch=epoch)
        producer.epoch = epoch
        return producer

    def test_a_producer_that_begins_gets_a_new_id(self, broker: Broker, version: int) -> None:
        producer = self.exhausted(broker, 32766, version=version)
        before = producer.producer_id
        assert producer.init() == 0
        assert (producer.producer_id != before, producer.epoch) == (True, 0)
        assert [producer.send(b"a"), producer.end(commit=True)] == [0, 0]
        assert committed_values(broker.ask) == [b"a"]

    def test_the_end_of_a_transaction_rotates_the_id(self, broker: Broker) -> None:
        producer = self.exhausted(broker, 32766)
        before = producer.producer_id
        assert producer.send(b"a") == 0
        repeated = producer.end_request(commit=True)
        assert producer.end(commit=True) == 0
        assert (producer.producer_id != before, producer.epoch) == (True, 0)
        assert broker.metadata().previous_producer_id == before
        again = broker.ask(repeated, 5)
        assert (again.error_code, again.producer_id, again.producer_epoch) == (0, producer.producer_id, 0)
        assert [producer.send(b"b"), producer.end(commit=False)] == [0, 0]
        assert committed_values(broker.ask) == [b"a"]
        log = broker.partition("t").log
        fenced = log.producers.get(before)
        assert fenced is not None
        assert fenced.epoch == 32767

    def test_a_time_out_at_the_last_epoch(self, broker: Broker, version: int) -> None:
        producer = self.exhausted(broker, 32766, version=version, timeout_ms=1)
        assert producer.send(b"a") == 0
        broker.tick(ABORT_MS)
        assert broker.state() is COMPLETE_ABORT
        # The abort has rotated the id. For version 2 it is a repeated request.
        assert producer.end(commit=True) == (
            codes.INVALID_PRODUCER_ID_MAPPING if version == 1 else codes.INVALID_TXN_STATE
        )
        again = TransactionalProducer(broker.ask, version=version)
        assert again.init() == 0
        assert again.producer_id != producer.producer_id
        assert [again.send(b"b"), again.end(commit=True)] == [0, 0]
        assert committed_values(broker.ask) == [b"b"]


class TestDeletedTopic:
    def test_transaction_without_partitions_needs_no_marker(self, broker: Broker, version: int) -> None:
        from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest

        producer = broker.producer(version=version)
        assert [producer.send(b"a"), producer.send_offset(3)] == [0, 0]
        broker.ask(DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000), 5)
        assert producer.end(commit=True) == 0
        assert broker.state() is COMPLETE_COMMIT


class TestBounds:
    def test_a_thousand_transactions_leave_nothing_behind(self, broker: Broker, version: int) -> None:
        producer = broker.producer(version=version)
        for number in range(300):
            assert [producer.send(b"a"), producer.end(commit=number % 2 == 0)] == [0, 0]
        transactions = broker.node.transactions
        markers, asked = transactions.markers, transactions.partitions_manager
        assert [markers._by_broker, markers._delayed, markers._in_flight, markers._busy] == [{}, [], {}, set()]
        assert [asked._by_broker, asked._in_flight, asked._busy] == [{}, {}, set()]
        assert [len(shard.entries) for shard in transactions if shard.entries] == [1]
        assert {len(shard._timers) for shard in transactions} == {2}
        producers = broker.partition("t").log.producers
        assert (len(producers), len(producers._verifications)) == (1, 0)

    def test_failed_verifications_of_transactions_are_forgotten(self, broker: Broker) -> None:
        for number in range(20):
            producer = broker.producer(f"app{number}", version=1)
            broker.ask(producer.produce_request(b"a"), 11)
        producers = broker.partition("t").log.producers
        assert len(producers._verifications) == 20
        producers.expire(broker.now + 86_400_000, 86_400_000)
        assert producers._verifications == {}

    def test_timers_end_with_leadership(self, broker: Broker) -> None:
        producer = broker.producer(timeout_ms=1)
        assert producer.send(b"a") == 0
        shard = broker.node.transactions.shard("app")
        timers = list(shard._timers.values())
        broker.node.transactions.runtime.on_resignation(shard.partition)
        assert [timer.action for timer in timers] == [None, None]
        broker.tick(2 * ABORT_MS)
        assert shard.entries["app"].metadata.state is ONGOING, "no broker coordinates it"
