"""Spark's `kafka-log` reads the directory of a running Apache Kafka: the records equal those of
Spark's own connector, and the metadata equals the cluster's."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from interop.local.cluster import Cluster
from interop.support import unique
from interop.tools.filling import CODECS, COMPACTED, LARGE, MIXED, SEGMENT
from tests.support.waiting import eventually

from .filled_node import TOPICS

pytestmark = pytest.mark.timeout(900)


def log(spark: Any, filled: Cluster, level: str, **options: object) -> Any:
    source = spark.read.format("kafka-log").option("level", level).options(**options)
    return source.load(str(filled.nodes[0].data))


def rows(frame: Any) -> list[tuple[Any, ...]]:
    """Rows by topic, partition and offset."""
    return sorted((tuple(row) for row in frame.collect()), key=lambda row: row[2:5])


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
def test_records_are_those_of_sparks_connector(spark: Any, filled: Cluster, isolation: str) -> None:
    """Compares row by row, in all columns that both have. Compaction may come between the two
    readings."""
    arguments = {"kafka.bootstrap.servers": filled.bootstrap, "subscribe": ",".join(TOPICS), "includeHeaders": "true"}
    theirs = spark.read.format("kafka").options(**arguments).option("kafka.isolation.level", isolation).load()
    options = {"topics": ",".join(TOPICS), "isolation": isolation, "includeHeaders": True, "failOnDataLoss": False}
    ours = log(spark, filled, "records", **options).select(theirs.columns)
    assert ours.schema.simpleString() == theirs.schema.simpleString()
    found = eventually(lambda: (rows(ours), rows(theirs)), lambda both: both[0] == both[1])[0]
    assert {row[2] for row in found} == set(TOPICS)
    assert any(row[7] for row in found)


def test_batches_and_segments_are_those_of_the_records(spark: Any, filled: Cluster) -> None:
    topics = {"topics": f"{MIXED},{LARGE}"}
    records = log(spark, filled, "records", **topics, includeControl=True).groupBy("topic", "partition").count()
    expected = {(row.topic, row.partition): row["count"] for row in records.collect()}
    batches = log(spark, filled, "batches", **topics).collect()
    segments = log(spark, filled, "segments", **topics).collect()
    assert len(expected) == TOPICS[MIXED] + TOPICS[LARGE]
    assert _sums(batches, "count") == expected
    assert {row.codec for row in batches} == set(CODECS)
    assert {(row.transactional, row.control) for row in batches} == {(False, False), (True, False), (True, True)}
    assert _sums(segments, "size") == {place: _bytes(filled.nodes[0].data, *place) for place in expected}
    assert {row.problem for row in segments} == {None}
    assert sum(row.topic == LARGE for row in segments) > 1


def _sums(found: list[Any], name: str) -> dict[tuple[str, int], int]:
    sums: dict[tuple[str, int], int] = {}
    for row in found:
        sums[row.topic, row.partition] = sums.get((row.topic, row.partition), 0) + row[name]
    return sums


def _bytes(data: Path, topic: str, partition: int) -> int:
    return sum(path.stat().st_size for path in (data / f"{topic}-{partition}").glob("*.log"))


def current(spark: Any, filled: Cluster, table: str) -> list[Any]:
    found: list[Any] = log(spark, filled, "metadata", table=table).where("current").collect()
    return found


def test_metadata_are_those_of_a_broker(spark: Any, filled: Cluster) -> None:
    metadata = AdminClient({"bootstrap.servers": filled.bootstrap}).list_topics(timeout=60)
    topics = {name: len(topic.partitions) for name, topic in metadata.topics.items()}
    assert {row.topic: row.partitions for row in current(spark, filled, "topics")} == topics
    assert topics.items() >= TOPICS.items()
    assert {(row.topic, row.partition, row.leader, *row.isr, *row.replicas) for row in current(spark, filled, "partitions")} == {
        (topic.topic, at.id, at.leader, *at.isrs, *at.replicas) for topic in metadata.topics.values() for at in topic.partitions.values()
    }  # fmt: skip
    brokers = {(row.broker_id, row.fenced, row.endpoints[0].port) for row in current(spark, filled, "brokers")}
    assert brokers == {(broker.id, False, broker.port) for broker in metadata.brokers.values()}
    configs = {(row.resource, row.name): row.value for row in current(spark, filled, "configs")}
    assert configs[LARGE, "segment.bytes"] == str(SEGMENT)
    assert configs[COMPACTED, "cleanup.policy"] == "compact"


def test_offsets_are_those_that_the_group_committed(spark: Any, filled: Cluster) -> None:
    lag = log(spark, filled, "offsets", table="lag").where("current AND group = 'files'").collect()
    found = {(row.topic, row.partition): row.committed_offset for row in lag}
    admin = AdminClient({"bootstrap.servers": filled.bootstrap})
    (committed,) = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions("files")]).values()
    assert found == {(each.topic, each.partition): each.offset for each in committed.result(60).topic_partitions}
    assert len(found) == 2
    assert all(row.lag_now == row.end_offset_now - row.committed_offset > 0 for row in lag)


def test_transactions_have_their_outcomes(spark: Any, filled: Cluster) -> None:
    """The producer that filled the topics committed and aborted in turn."""
    states = log(spark, filled, "transactions").where("transactional_id LIKE 'files-%'").orderBy("offset").collect()
    ends = [row.status for row in states if row.status.startswith("Complete")]
    assert ends == ["CompleteCommit", "CompleteAbort"] * 3
    taken = {(at.topic, at.partition) for row in states for at in row.partitions or ()}
    assert taken == {(MIXED, 0), (MIXED, 1)}


@contextmanager
def writing(bootstrap: str, topic: str) -> Iterator[list[int]]:
    """A producer that writes all the time. Yields the offsets that were acknowledged so far, in
    order."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 1})
    ended, known = threading.Event(), list[int]()

    def on_delivery(error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        known.append(message.offset() or 0)

    def run() -> None:
        while not ended.is_set():
            for _ in range(20):
                producer.produce(topic, b"v" * 2000, on_delivery=on_delivery)
            producer.flush(60)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield known
    finally:
        ended.set()
        thread.join(60)
        assert not thread.is_alive()


@pytest.mark.parametrize("level", ["records", "batches", "segments"])
def test_a_log_that_is_written_is_read_as_it_was_then(spark: Any, filled: Cluster, level: str) -> None:
    """No record that was acknowledged before is missing, and there is no gap; new segments begin
    during the reading."""
    topic, count = unique("live"), {"records": "count(*)", "batches": "sum(count)", "segments": "sum(records)"}[level]
    admin = AdminClient({"bootstrap.servers": filled.bootstrap})
    admin.create_topics([NewTopic(topic, 1, 1, config={"segment.bytes": str(SEGMENT)})])[topic].result(60)
    last = "offset" if level == "records" else "last_offset"
    with writing(filled.bootstrap, topic) as known:
        for reading in range(1, 4):
            before = _beyond(known, 600 * reading)
            found = (
                log(spark, filled, level, topics=topic).selectExpr(f"{count} AS rows", f"max({last}) AS last").first()
            )
            assert found.last >= before
            assert found.rows == found.last + 1


def _beyond(known: list[int], least: int) -> int:
    """The last offset, once it is at least this."""
    return eventually(lambda: known[-1] if known else -1, lambda last: last >= least)
