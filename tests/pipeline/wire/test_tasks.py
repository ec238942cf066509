"""The work of tasks: reading spans and writing rows."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator

import pyarrow as pa
import pytest

from kafkadouble import KafkaDouble
from kafkadouble.pipeline.client import ApiError, Client, Fetched, NoSuchTopic, TopicPartition
from kafkadouble.pipeline.fetched_rows import rows as rows_of
from kafkadouble.pipeline.wire import pool, reading, writing
from kafkadouble.pipeline.wire.losses import DataLoss
from kafkadouble.pipeline.wire.options import SINK
from kafkadouble.pipeline.wire.task import ReadTask
from kafkadouble.records.partitioner import partition_for
from kafkadouble.wire import columns
from kafkadouble.wire.batch import encode_batch
from kafkadouble.wire.control import encode_control_batch
from kafkadouble.wire.errors import UsageError
from kafkadouble.wire.record import Record

from .making import add_partitions, delete_before, fill, plan_of, settings, values

T0 = TopicPartition("t", 0)
HEADERS = pa.list_(pa.field("element", pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])))


def rows(**given: object) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(given)


def batch_of(*texts: str) -> pa.RecordBatch:
    return rows(value=list(texts))


def test_a_span_is_cut_out_of_batches(double: KafkaDouble) -> None:
    (batch,) = columns.encode(batch_of(*"abcdef"), now=1)
    with Client(settings(double).client) as client, client.producer() as producer:
        producer.send({T0: [batch]})
    assert values([ReadTask(T0, 2, 5)], settings(double)) == ["c", "d", "e"]


def test_only_the_requested_columns_are_made_in_their_order(double: KafkaDouble) -> None:
    fill(double, "a", key="k", headers=[("h", b"1")])
    chosen = settings(double)
    (found,) = reading.read(ReadTask(T0, 0, 1), ("leader_epoch", "key", "headers"), chosen)
    assert found.schema == columns.schema(("leader_epoch", "key", "headers"))
    assert found.to_pylist() == [{"leader_epoch": 0, "key": b"k", "headers": [{"key": "h", "value": b"1"}]}]


def test_aborted_and_control_records() -> None:
    """A marker is never a row; aborted records are rows on request."""
    texts, ends = (b"kept", b"lost"), (1, 0)
    stored = bytearray()
    for at, text in enumerate(texts):
        stored += encode_batch([Record(at, 1, None, text)], base_offset=at, producer_id=at, is_transactional=True)
    for at, end in enumerate(ends):
        stored += encode_control_batch(end, b"", base_offset=2 + at, producer_id=at, is_transactional=True)
    fetched = Fetched(memoryview(stored), 0, 4, 4, 0, 4, ((1, 1),))
    for isolation, expected in (("read_uncommitted", [b"kept", b"lost"]), ("read_committed", [b"kept"])):
        rows = rows_of(fetched, T0, 0, 4, ("value",), isolation == "read_committed")
        assert [text for batch in rows for text in batch.column("value").to_pylist()] == expected


def test_records_that_are_deleted_before_a_task_reads_them(
    double: KafkaDouble, caplog: pytest.LogCaptureFixture
) -> None:
    fill(double, *"abc")
    delete_before(double, T0, 2)
    with pytest.raises(
        DataLoss, match="t-0 has no offset 0: it has offsets from 2 to 3; set the option failOnDataLoss"
    ):
        values([ReadTask(T0, 0, 3)], settings(double))
    with caplog.at_level(logging.WARNING):
        assert values([ReadTask(T0, 0, 3)], settings(double, failOnDataLoss="false")) == ["c"]
    assert "t-0 has no offset 0" in caplog.text


def test_a_truncation_that_a_task_finds(double: KafkaDouble) -> None:
    fill(double, *"abc")
    double.truncate("t", 0, 1)
    fill(double, *"BCDE")
    with pytest.raises(DataLoss, match="t-0 was truncated"):
        values([ReadTask(T0, 3, 5, epoch=0)], settings(double))
    assert values([ReadTask(T0, 3, 5, epoch=0)], settings(double, failOnDataLoss="false")) == ["B", "C", "D", "E"]


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_written_task_is_read(double: KafkaDouble, codec: str) -> None:
    sent = rows(
        key=["k1", None, ""],
        value=["v", "", None],
        headers=pa.array([[{"key": "h", "value": b"1"}], None, []], HEADERS),
        partition=pa.array([1, 1, 1], pa.int32()),
        comment=["left", "out", "here"],
    )
    chosen = settings(double, SINK, topic="t", kafka_compression_type=codec)
    assert writing.write(iter([sent, sent.slice(0, 0)]), chosen) == 3
    found = [(r.key, r.value, list(r.headers)) for r in double.records("t", 1)]
    assert found == [(b"k1", b"v", [("h", b"1")]), (None, b"", []), (b"", None, [])]


def test_keys_go_where_kafkas_producer_sends_them_and_timestamps_are_kept(double: KafkaDouble) -> None:
    keys = [f"k{number}" for number in range(20)]
    stamps = pa.array([1_000_000 + number for number in range(20)], pa.timestamp("us", "UTC"))
    chosen = settings(double, SINK, topic="t")
    writing.write(iter([rows(key=keys, value=keys, timestamp=stamps)]), chosen)
    for record in double.records("t"):
        assert record.key is not None
        assert record.partition == partition_for(record.key, 2)
        assert record.timestamp == 1000
    assert len(double.records("t")) == 20


def test_rows_name_their_topics_and_a_new_one_is_created(double: KafkaDouble) -> None:
    sent = rows(value=["a", "b", "c"], topic=["t", "fresh", "t"])
    writing.write(iter([sent]), settings(double, SINK))
    assert Counter(r.value for r in double.records("t")) == {b"a": 1, b"c": 1}
    assert [r.value for r in double.records("fresh")] == [b"b"]


def test_a_partition_that_the_topic_has_not(double: KafkaDouble) -> None:
    sent = rows(value=["a"], partition=pa.array([9], pa.int32()))
    with pytest.raises(UsageError, match="a row has partition 9 of the topic t, which has partitions 0 to 1"):
        writing.write(iter([sent]), settings(double, SINK, topic="t"))


OLD = {"kafka_metadata_max_age_ms": "300000"}
"""What a client believes for five minutes, as Kafka's do."""


def test_partitions_that_are_added_while_workers_keep_their_clients(double: KafkaDouble) -> None:
    chosen, sunk = settings(double, **OLD), settings(double, SINK, topic="t", **OLD)
    fill(double, "a")
    assert values(plan_of(double), chosen) == ["a"]
    writing.write(iter([batch_of("b")]), sunk)
    add_partitions(double, "t", 3)
    fill(double, "new", partition=2)
    to_the_new = rows(value=["newer"], partition=pa.array([2], pa.int32()))
    assert writing.write(iter([to_the_new]), sunk) == 1
    tasks = [task for task in plan_of(double) if task.tp.partition == 2]
    assert values(tasks, chosen) == ["new", "newer"]


def test_a_task_asks_for_no_metadata(double: KafkaDouble) -> None:
    fill(double, *"abc")
    tasks = plan_of(double, minPartitions="3")
    asked = len(double.requests.of("Metadata"))
    assert values(tasks, settings(double, **OLD)) == ["a", "b", "c"]
    assert len(double.requests.of("Metadata")) == asked


def test_a_topic_that_is_not_there_is_named() -> None:
    with KafkaDouble(config={"auto.create.topics.enable": "false"}) as double:
        chosen = settings(double, SINK, topic="nowhere", kafka_default_api_timeout_ms="100")
        with pytest.raises(NoSuchTopic, match="'nowhere'"):
            writing.write(iter([batch_of("a")]), chosen)
        pool.close()


def test_a_record_that_is_too_large_is_reported_with_its_partition(double: KafkaDouble) -> None:
    with pytest.raises(ApiError, match=r"sending to t-\d: MESSAGE_TOO_LARGE"):
        writing.write(iter([rows(value=["x" * 2_000_000])]), settings(double, SINK, topic="t"))


def test_records_of_several_batches_arrive_in_order(double: KafkaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "ENOUGH", 1000)
    sent = [rows(key=["k"] * 10, value=[f"{at}-{number}" for number in range(10)]) for at in range(20)]
    chosen = settings(double, SINK, topic="t", kafka_batch_size="100")
    assert writing.write(iter(sent), chosen) == 200
    found = [r.value.decode() for r in double.records("t") if r.value is not None]
    assert found == [f"{at}-{number}" for at in range(20) for number in range(10)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("batch.size", "big"),
        ("compression.type", "rar"),
        ("compression.gzip.level", "high"),
        ("partitioner.class", "org.example.Mine"),
        ("retries", "-1"),
    ],
)
def test_a_property_that_cannot_be_is_refused_before_any_task(double: KafkaDouble, name: str, value: str) -> None:
    with pytest.raises(UsageError, match=name.replace(".", r"\.")):
        settings(double, SINK, topic="t", **{f"kafka.{name}": value})


def test_rows_with_keys_go_where_those_without_do(double: KafkaDouble) -> None:
    chosen = settings(double, SINK, topic="t", **{"kafka.partitioner.ignore.keys": "true"})
    writing.write(iter([rows(key=[f"k{number}"], value=["v"]) for number in range(6)]), chosen)
    assert Counter(record.partition for record in double.records("t")) == {0: 3, 1: 3}


def test_sink_sends_when_its_buffer_is_full(double: KafkaDouble) -> None:
    there: list[int] = []

    def made() -> Iterator[pa.RecordBatch]:
        for _ in range(6):
            there.append(len(double.records("t")))
            yield rows(key=["k"], value=["x" * 600])

    writing.write(made(), settings(double, SINK, topic="t", kafka_buffer_memory="1000"))
    assert there == [0, 0, 2, 2, 4, 4]


def test_a_codec_has_its_level(double: KafkaDouble) -> None:
    """One that there is makes a batch, one that there is not is refused by the codec."""
    for level in ("1", "9"):
        chosen = settings(double, SINK, topic="t", kafka_compression_type="gzip", kafka_compression_gzip_level=level)
        writing.write(iter([rows(value=["x" * 1000] * 9)]), chosen)
    wrong = settings(double, SINK, topic="t", kafka_compression_type="gzip", kafka_compression_gzip_level="10")
    with pytest.raises(UsageError, match="gzip has no level 10: 1 to 9"):
        writing.write(iter([rows(value=["x"])]), wrong)


def test_records_of_open_transactions_by_the_setting_alone(double: KafkaDouble) -> None:
    fill(double, "a")
    chosen = settings(double, kafka_isolation_level="read_committed")
    assert values(plan_of(double, kafka_isolation_level="read_committed"), chosen) == ["a"]
    levels = {each.body.isolation_level for api in ("Fetch", "ListOffsets") for each in double.requests.of(api)}
    assert levels == {1}
