"""The directory of an Apache Kafka, read as a table, has the records that Kafka's consumer reads,
while it runs and when it is stopped."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from interop.local.cluster import Cluster
from interop.support import unique
from interop.tools.filling import COMPACTED, LARGE, MIXED
from kafkadouble import open_log
from kafkadouble.dump.checking import check
from tests.support.waiting import eventually

from .filled_node import DELETED, TOPICS


class Row(NamedTuple):
    """A record, in a form that a consumer and the table share."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


def consumed(bootstrap: str, isolation: str) -> list[Row]:
    """All records that a consumer gets of the topics."""
    consumer = Consumer({
        "bootstrap.servers": bootstrap, "group.id": unique("reader"), "isolation.level": isolation,
        "enable.partition.eof": True, "enable.auto.commit": False,
    })  # fmt: skip
    places = [
        TopicPartition(topic, index, OFFSET_BEGINNING) for topic, count in TOPICS.items() for index in range(count)
    ]
    rows: list[Row] = []
    ended: set[tuple[str, int]] = set()
    try:
        consumer.assign(places)
        while len(ended) < len(places):
            message: Any = consumer.poll(60)
            assert message is not None, f"nothing more than {len(rows)} records, the ends of {ended}"
            if message.error():
                ended.add((message.topic(), message.partition()))
            else:
                rows.append(_row(message))
    finally:
        consumer.close()
    return sorted(rows, key=lambda row: row[:3])


def _row(message: Any) -> Row:
    headers = tuple((name, value) for name, value in message.headers() or ())
    return Row(
        message.topic(), message.partition(), message.offset(), message.timestamp()[1], message.key(), message.value(), headers
    )  # fmt: skip


def read(data: Path, isolation: str = "read_uncommitted", **options: Any) -> list[Row]:
    """The records in the files. A live node may compact during the reading, which is then
    repeated."""
    table = open_log(data, topics=list(TOPICS), include_headers=True, isolation=isolation, **options).to_table()
    rows = [
        Row(
            row["topic"], row["partition"], row["offset"], round(row["timestamp"].timestamp() * 1000), row["key"],
            row["value"], tuple((each["key"], each["value"]) for each in row["headers"] or ()),
        )
        for row in table.to_pylist()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: row[:3])


def both(filled: Cluster, isolation: str) -> tuple[list[Row], list[Row]]:
    """The records of a consumer and those of the files; compaction may come between the two
    readings."""
    return eventually(
        lambda: (consumed(filled.bootstrap, isolation), read(filled.nodes[0].data, isolation, fail_on_data_loss=False)),
        lambda found: found[0] == found[1],
    )


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
def test_a_live_directory_is_read_as_its_consumer_reads_it(filled: Cluster, isolation: str) -> None:
    theirs, ours = both(filled, isolation)
    assert ours == theirs
    assert {row.topic for row in ours} == set(TOPICS)
    assert min(row.offset for row in ours if row.topic == LARGE) == DELETED
    aborted = {b"transaction %d" % number for number in (1, 3, 5)}
    assert bool(aborted & {row.key for row in ours} | aborted & {row.value for row in ours}) is (
        isolation == "read_uncommitted"
    )


@pytest.mark.parametrize("at", [1_700_000_000_000, 1_700_000_123_456, 1_700_000_299_000, 1_700_000_299_001])
def test_a_timestamp_is_the_offset_that_kafka_finds(filled: Cluster, at: int) -> None:
    """The offset that ListOffsets returns; the end offset if there is none."""
    consumer = Consumer({"bootstrap.servers": filled.bootstrap, "group.id": unique("asking")})
    try:
        (found_offset,) = consumer.offsets_for_times([TopicPartition(LARGE, 0, at)], timeout=60)
    finally:
        consumer.close()
    table = open_log(filled.nodes[0].data, topics=LARGE, columns=["offset"], starting_timestamp=at).to_table()
    offsets = table["offset"].to_pylist()
    assert (offsets[0] if offsets else -1) == found_offset.offset


def test_records_of_open_transactions_are_not_read_as_committed(filled: Cluster) -> None:
    """A transaction is open, and records come behind it; then it is aborted."""
    data, key = filled.nodes[0].data, unique("open").encode()
    producer = Producer({"bootstrap.servers": filled.bootstrap, "transactional.id": unique("open")})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce(MIXED, key, partition=0)
    producer.flush(60)
    plain = Producer({"bootstrap.servers": filled.bootstrap})
    plain.produce(MIXED, b"behind", key=key, partition=0)
    assert plain.flush(60) == 0
    assert (_with(read(data), key), _with(read(data, "read_committed"), key)) == (2, 0)
    assert both(filled, "read_committed")[0] == read(data, "read_committed")
    producer.abort_transaction(60)
    eventually(lambda: _with(read(data, "read_committed"), key), lambda count: count == 1)


def _with(rows: list[Row], key: bytes) -> int:
    return sum(key in (row.key, row.value) for row in rows)


def test_a_stopped_directory_and_a_copy_hold_the_same(filled: Cluster, tmp_path: Path) -> None:
    """The records are the same in one read or in many, by segments, and after a shutdown."""
    node = filled.nodes[0]
    theirs = {isolation: consumed(filled.bootstrap, isolation) for isolation in ("read_uncommitted", "read_committed")}
    node.stop()
    try:
        for isolation, rows in theirs.items():
            stopped = [
                row
                for row in read(node.data, isolation)
                if row.topic != COMPACTED
                # The compacted topic may have been cleaned since.
            ]
            assert stopped == [row for row in rows if row.topic != COMPACTED]
        copy = Path(shutil.copytree(node.data, tmp_path / "copy"))
        assert read(copy, split_bytes=20_000) == read(node.data)
        segments = open_log(copy, level="segments").to_table().to_pylist()
        assert {row["problem"] for row in segments} == {None}
        assert sum(row["records"] for row in segments) == check(copy).counts["records"] - _in_snapshots(copy)
    finally:
        node.start()


def _in_snapshots(data: Path) -> int:
    """Records of metadata snapshots, which are not segments."""
    return sum(open_log(path, include_control=True).to_table().num_rows for path in data.glob("**/*.checkpoint"))
