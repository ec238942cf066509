"""The states of transactional producers, and the outcomes of their transactions, from the logs of a
double and of Apache Kafka."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from kafkadouble import KafkaDouble, UsageError, open_log
from kafkadouble.messages.coordinator import encode_key, encode_value
from kafkadouble.messages.generated.transaction_log_record import TransactionLogKey, TransactionLogValue
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

KAFKA = Path(__file__).resolve().parents[2] / "golden" / "log_directory"
LATER_MS = 20
"""How much later than the time in its value a record is written."""
PARTITIONS = [{"topic": "t", "partition": index} for index in (0, 1)]


def rows(path: Path, table: str, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = open_log(path, level="transactions", table=table, **options).to_table().to_pylist()
    return found


def columns(found: Iterable[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in found]


def producer(kafka: KafkaDouble, transactional_id: str) -> Producer:
    settings = {"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": transactional_id, "log_level": 0}
    made = Producer({**settings, "error_cb": lambda error: None})
    made.init_transactions(30)
    made.begin_transaction()
    for index in range(len(PARTITIONS)):
        made.produce("t", transactional_id, partition=index)
    made.flush(30)
    return made


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Transactions that are committed, aborted, fenced and open, one of them with offsets."""
    path = tmp_path_factory.mktemp("transactions")
    one = {"transaction.state.log.num.partitions": 1, "offsets.topic.num.partitions": 1}
    with KafkaDouble(data_dir=path, config=one, stepped=True) as kafka:
        kafka.create_topic("t", partitions=2)
        committed = producer(kafka, "committed")
        member = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": "g"})
        offsets = [TopicPartition("t", 0, 1)]
        committed.send_offsets_to_transaction(offsets, member.consumer_group_metadata(), 30)
        kafka.advance(2)
        committed.commit_transaction(30)
        member.close()
        producer(kafka, "aborted").abort_transaction(30)
        zombie = producer(kafka, "fenced")
        # Kept to the end: a producer that is collected might end its transaction.
        kept = [zombie, producer(kafka, "fenced"), producer(kafka, "open")]
        with pytest.raises(KafkaException):
            zombie.commit_transaction(30)
        kept[1].commit_transaction(30)
    return path


def test_each_transaction_has_its_outcome(written: Path) -> None:
    found = rows(written, "outcomes")
    assert columns(found, "transactional_id", "outcome", "current") == [
        ("committed", "commit", False),
        ("aborted", "abort", False),
        ("fenced", "abort", False),
        ("fenced", "commit", False),
        ("open", None, True),
    ]
    assert [row["partitions"] for row in found[1:]] == [PARTITIONS] * 4
    assert found[0]["partitions"] == [{"topic": "__consumer_offsets", "partition": 0}, *PARTITIONS]
    assert {row["state_partition"] for row in found} == {0}
    assert {row["replica"] for row in found} == {str(written)}


def test_the_times_of_a_transaction_are_those_of_its_steps(written: Path) -> None:
    first, *_, last = rows(written, "outcomes")
    assert (first["decided_time"] - first["start_time"]).total_seconds() == 2
    assert first["end_time"] >= first["decided_time"]
    assert (last["decided_time"], last["end_time"]) == (None, None)
    assert last["start_time"] >= first["end_time"]


def test_the_producer_of_a_transaction_is_that_of_its_batches(written: Path) -> None:
    batches = open_log(written, level="batches", topics="t").to_table().to_pylist()
    producers = {(row["producer_id"], row["producer_epoch"]) for row in batches if not row["control"]}
    found = rows(written, "outcomes")
    assert set(columns(found, "producer_id", "producer_epoch")) == producers
    assert len(producers) == len(found)


def test_every_state_is_a_row(written: Path) -> None:
    found = rows(written, "states")
    fenced = [row for row in found if row["transactional_id"] == "fenced"]
    steps = list(dict.fromkeys(columns(fenced, "status", "producer_epoch")))
    assert [status for status, _ in steps] == [
        "Empty", "Ongoing", "PrepareAbort", "CompleteAbort", "Empty", "Ongoing", "PrepareCommit", "CompleteCommit",
    ]  # fmt: skip
    assert [epoch for _, epoch in steps] == sorted(epoch for _, epoch in steps)
    assert fenced[0]["start_time"] is None
    assert len({row["start_time"] for row in fenced[1:4]}) == 1
    assert not any(row["removed"] for row in found)


def test_states_can_begin_late_and_outcomes_cannot(written: Path) -> None:
    assert rows(written, "states", starting_offsets=3) == rows(written, "states")[3:]
    with pytest.raises(UsageError, match="table outcomes follows from the whole log"):
        rows(written, "outcomes", starting_offsets=3)


def test_outcomes_can_be_read_as_of_an_offset(written: Path) -> None:
    decided = next(row["offset"] for row in rows(written, "states") if row["status"] == "PrepareCommit")
    before = rows(written, "outcomes", ending_offsets=decided)
    assert columns(before, "transactional_id", "outcome", "current") == [("committed", None, True)]
    after = rows(written, "outcomes", ending_offsets=decided + 1)
    assert columns(after, "transactional_id", "outcome", "end_time", "current") == [("committed", "commit", None, True)]


def log_of(folder: Path, *states: tuple[TransactionState, int] | None) -> Path:
    """A log of one transactional id: each state with the start of its transaction; None removes
    the id."""
    path = folder / "__transaction_state-7"
    path.mkdir()
    key = encode_key(TransactionLogKey(transactional_id="x"))
    records = [Record(at, at + LATER_MS, key, state and _value(*state, at)) for at, state in enumerate(states)]
    (path / "00000000000000000000.log").write_bytes(bytes(encode_batch(records)))
    return path


def _value(state: TransactionState, start: int, now: int) -> bytes:
    of = TransactionLogValue.PartitionsSchema
    taken = [of(topic="t", partition_ids=[0, 1])] if state in (ONGOING, PREPARE_COMMIT, PREPARE_ABORT) else []
    value = TransactionLogValue(
        producer_id=5,
        producer_epoch=now,
        transaction_status=state.value,
        transaction_partitions=None if state is EMPTY else taken,
        transaction_start_timestamp_ms=start,
        transaction_last_update_timestamp_ms=now,
    )
    return encode_value(value, 1)


def test_the_rest_of_a_compacted_transaction_is_known_and_no_more(tmp_path: Path) -> None:
    path = log_of(tmp_path, (COMPLETE_COMMIT, 1), (ONGOING, 40), (PREPARE_ABORT, 40), (COMPLETE_ABORT, 40))
    found = columns(rows(path, "outcomes"), "outcome", "partitions", "producer_epoch", "decided_time", "offset")
    assert found[0] == ("commit", None, None, None, 0)
    assert found[1][:3] == ("abort", PARTITIONS, 1)
    assert found[1][4] == 1


def test_a_transaction_whose_end_is_missing_ends_where_the_next_begins(tmp_path: Path) -> None:
    path = log_of(tmp_path, (PREPARE_COMMIT, 1), (ONGOING, 40))
    found = columns(rows(path, "outcomes"), "outcome", "end_time", "current", "producer_epoch")
    assert found == [("commit", None, False, None), (None, None, True, 1)]


def test_a_transaction_ends_when_its_last_record_is_written(tmp_path: Path) -> None:
    """Kafka chooses the time in that record before it sends the markers."""
    (found,) = rows(log_of(tmp_path, (ONGOING, 0), (PREPARE_COMMIT, 0), (COMPLETE_COMMIT, 0)), "outcomes")
    assert [found[name].timestamp() * 1000 for name in ("start_time", "decided_time", "end_time")] == [0, 21, 22]


def test_an_id_that_expired_was_removed(tmp_path: Path) -> None:
    path = log_of(tmp_path, (EMPTY, -1), None)
    assert columns(rows(path, "states"), "status", "removed", "state_partition") == [
        ("Empty", False, 7),
        (None, True, 7),
    ]
    assert rows(path, "outcomes") == []


def test_a_real_log_of_transactions_is_read() -> None:
    found = rows(KAFKA, "states")
    assert [row["status"] for row in found[:7]] == [
        "Empty", "Ongoing", "PrepareCommit", "CompleteCommit", "Ongoing", "PrepareAbort", "CompleteAbort",
    ]  # fmt: skip
    assert found[1]["partitions"] == [{"topic": "mixed", "partition": index} for index in (1, 0)]
    assert found[0]["start_time"] is None
    assert not any(row["removed"] for row in found)


def test_the_outcomes_of_a_real_log_are_those_of_its_markers() -> None:
    ends = [
        row
        for row in open_log(KAFKA, topics="mixed", partitions=0, include_control=True).to_table().to_pylist()
        if row["control"]
    ]
    markers = [
        "commit" if row["key"] == b"\0\0\0\1" else "abort" for row in sorted(ends, key=lambda row: row["offset"])
    ]
    assert [row["outcome"] for row in rows(KAFKA, "outcomes")] == markers
    assert set(markers) == {"commit", "abort"}
