"""A broker that restarts on its files in each state of a transactional id, and on damaged records
of `__transaction_state`."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.transaction_log_record import TransactionLogKey, TransactionLogValue
from kafkadouble.server.coordinator.coordinator_record import CoordinatorRecord
from kafkadouble.server.handlers import write_txn_markers
from kafkadouble.server.metadata.internal_topics import TRANSACTION_STATE
from kafkadouble.server.transactions.transaction_log import tombstone, transaction_record
from kafkadouble.server.transactions.transaction_metadata import TransactionMetadata
from kafkadouble.server.transactions.transaction_state import (
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    EMPTY,
    ONGOING,
    PREPARE_ABORT,
    PREPARE_COMMIT,
    TransactionState,
)
from kafkadouble.wire.batch import Record, encode_batch
from tests.server.transactions.broker import ABORT_MS, Broker
from tests.server.transactions.restarted import Restarted, restart
from tests.support.transactional_producer import TransactionalProducer, committed_offset, committed_values, fetched


def refuse(*_: Any) -> int:
    return codes.NOT_LEADER_OR_FOLLOWER


@pytest.fixture
def machine() -> Restarted:
    return Restarted()


OUTCOMES = [
    # (state at the end, commit or abort; state after the restart, values, offset)
    (EMPTY, None, EMPTY, [], -1),
    (ONGOING, None, ONGOING, [], -1),
    (PREPARE_COMMIT, True, COMPLETE_COMMIT, [b"a", b"b"], 7),
    (PREPARE_ABORT, False, COMPLETE_ABORT, [], -1),
    (COMPLETE_COMMIT, True, COMPLETE_COMMIT, [b"a", b"b"], 7),
    (COMPLETE_ABORT, False, COMPLETE_ABORT, [], -1),
]


@pytest.mark.parametrize(
    ("before", "commit", "after", "values", "offset"), OUTCOMES, ids=[each[0].label for each in OUTCOMES]
)
def test_a_restart_in_each_state(
    machine: Restarted,
    how: str,
    version: int,
    monkeypatch: pytest.MonkeyPatch,
    before: TransactionState,
    commit: bool | None,
    after: TransactionState,
    values: list[bytes],
    offset: int,
) -> None:
    producer = TransactionalProducer(machine.ask, version=version)
    assert producer.init() == 0
    if before is not EMPTY:
        assert [producer.send(b"a"), producer.send(b"b"), producer.send(b"c", index=1)] == [0, 0, 0]
        assert producer.send_offset(7) == 0
    with monkeypatch.context() as patched:
        if before in (PREPARE_COMMIT, PREPARE_ABORT):
            patched.setattr(write_txn_markers, "_write", refuse)
        if commit is not None:
            assert producer.end(commit=commit) == 0
        assert machine.metadata().state is before
        if before in (PREPARE_COMMIT, PREPARE_ABORT):
            machine.tick(60)
            assert machine.metadata().state is before
    restart(machine, how)
    assert machine.metadata().state is after
    assert committed_values(machine.ask) == values
    is_open = before is ONGOING
    assert committed_offset(machine.ask) == ((codes.UNSTABLE_OFFSET_COMMIT, -1) if is_open else (0, offset))
    assert fetched(machine.ask).last_stable_offset == (0 if is_open else machine.partition("t").log.log_end_offset)
    # The producer goes on where it was.
    assert [producer.send(b"d"), producer.end(commit=True)] == [0, 0]
    assert committed_values(machine.ask)[-1:] == [b"d"]


def test_a_transaction_that_was_open_is_aborted_in_time(machine: Restarted, how: str) -> None:
    producer = TransactionalProducer(machine.ask, timeout_ms=30_000)
    assert [producer.init(), producer.send(b"a")] == [0, 0]
    restart(machine, how)
    assert machine.metadata().state is ONGOING
    machine.tick(ABORT_MS)
    machine.tick(0)
    assert machine.metadata().state is COMPLETE_ABORT
    assert committed_values(machine.ask) == []
    assert producer.send(b"b") == codes.INVALID_PRODUCER_EPOCH


def test_no_producer_id_is_given_twice(machine: Restarted, how: str) -> None:
    first = TransactionalProducer(machine.ask, "one")
    assert first.init() == 0
    restart(machine, how)
    second = TransactionalProducer(machine.ask, "two")
    assert second.init() == 0
    assert second.producer_id > first.producer_id


# Damaged records.


def record_of(transactional_id: str, **fields: Any) -> Record:
    metadata = TransactionMetadata(**{"producer_id": 5, "producer_epoch": 0, "txn_timeout_ms": 1000, **fields})
    return transaction_record(transactional_id, metadata, 2).encoded(0, 0)


def value_of(**fields: Any) -> Record:
    value = TransactionLogValue(**{"transaction_status": 1, "transaction_partitions": [], **fields})
    return CoordinatorRecord(TransactionLogKey(transactional_id="bad"), value, 1).encoded(0, 0)


KEY = b"\0\0\0\x03bad"
DAMAGED = {
    "an unknown state": value_of(transaction_status=8),
    "a negative state": value_of(transaction_status=-1),
    "null partitions": value_of(transaction_partitions=None),
    "a client of version 3": value_of(client_transaction_version=3),
    "no key": Record(0, 0, None, b"\0\0"),
    "an empty key": Record(0, 0, b"", b"\0\0"),
    "a key that ends early": Record(0, 0, b"\0\0\0\x09bad", b"\0\0"),
    "an empty value": Record(0, 0, KEY, b""),
    "a value that ends early": Record(0, 0, KEY, b"\0\0\0\0"),
}
SKIPPED = {
    "a key of an unknown type": Record(0, 0, b"\0\x09bad", b"\0\0"),
    "a value of an unknown version": Record(0, 0, KEY, b"\0\x09"),
    "an Empty id with null partitions": value_of(transaction_status=0, transaction_partitions=None),
}


def load(broker: Broker, *records: Record) -> set[str]:
    """Appends the records to the first partition, and loads it. The ids that the shard has."""
    partition = broker.partition(TRANSACTION_STATE)
    for record in records:
        partition.append_own(encode_batch([record]), 0)
    broker.node.transactions.runtime.on_election(partition)
    shard = broker.node.transactions.runtime.shard_at(0)
    assert shard is not None
    return set(shard.entries)


@pytest.mark.parametrize("damaged", DAMAGED.values(), ids=DAMAGED.keys())
def test_loading_ends_at_a_damaged_record(broker: Broker, damaged: Record, caplog: pytest.LogCaptureFixture) -> None:
    assert load(broker, record_of("before"), damaged, record_of("after")) == {"before"}
    assert "cannot be loaded" in caplog.text
    # The shard coordinates the ids that it has, and new ones.
    names = [name for name in map(str, range(9)) if broker.node.transactions.runtime.partition_of(name) == 0]
    producer = broker.producer(names[0])
    assert [producer.send(b"a"), producer.end(commit=True)] == [0, 0]
    assert committed_values(broker.ask) == [b"a"]


@pytest.mark.parametrize("skipped", SKIPPED.values(), ids=SKIPPED.keys())
def test_loading_goes_on_behind_what_a_newer_version_wrote(
    broker: Broker, skipped: Record, caplog: pytest.LogCaptureFixture
) -> None:
    assert load(broker, record_of("before"), skipped, record_of("after")) >= {"before", "after"}
    assert "cannot be loaded" not in caplog.text


def test_the_last_record_of_an_id_counts(broker: Broker) -> None:
    records = [record_of("a", producer_epoch=1), record_of("b"), tombstone("b").encoded(0, 0), record_of("a")]
    assert load(broker, *records) == {"a"}


@pytest.mark.parametrize("state", [6, 7])
def test_a_state_that_is_never_written_answers_with_an_error(broker: Broker, state: int) -> None:
    """Kafka loads it, and throws at each request for the id."""
    name = next(name for name in map(str, range(9)) if broker.node.transactions.runtime.partition_of(name) == 0)
    value = TransactionLogValue(producer_id=5, transaction_status=state, transaction_partitions=[])
    record = CoordinatorRecord(TransactionLogKey(transactional_id=name), value, 1).encoded(0, 0)
    assert load(broker, record) == {name}
    producer = TransactionalProducer(broker.ask, name)
    assert producer.init() == codes.UNKNOWN_SERVER_ERROR
    producer.producer_id, producer.epoch = 5, 0
    assert producer.end(commit=True) == codes.UNKNOWN_SERVER_ERROR
    broker.tick(ABORT_MS)
    other = broker.producer("other")
    assert [other.send(b"a"), other.end(commit=True)] == [0, 0]
