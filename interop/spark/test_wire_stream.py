"""Streams and sinks by `kafka-wire` and by Spark's own connector: the same micro-batches, and each
continues from the other's checkpoints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interop.brokers import Broker
from interop.clients import CREATOR
from interop.support import unique
from kafkadouble.pipeline.client import LATEST, Client, TopicPartition
from kafkadouble.pipeline.wire.offsets import RESERVED
from tests.support.waiting import eventually

pytestmark = pytest.mark.timeout(900)

OURS, THEIRS = "kafka-wire", "kafka"
BOTH = pytest.mark.parametrize(("first", "second"), [(THEIRS, OURS), (OURS, THEIRS)], ids=["to ours", "from ours"])


@pytest.fixture
def topic(broker: Broker) -> str:
    """A topic with three partitions."""
    name = unique("streamed")
    made(broker, name)
    return name


def made(broker: Broker, name: str) -> None:
    with CREATOR.admin(broker.bootstrap) as admin:
        admin.create_topic(name, 3)
    with Client({"bootstrap.servers": broker.bootstrap}) as client:
        eventually(client.topics, lambda names: name in names)
        # Every partition has a leader that serves it.
        client.offsets(dict.fromkeys((TopicPartition(name, index) for index in range(3)), LATEST))


def write(spark: Any, format: str, broker: Broker, topic: str, low: int, high: int) -> None:
    """Writes rows to the partitions in the ratio 4 : 2 : 1."""
    partition = "case when id % 7 < 4 then 0 when id % 7 < 6 then 1 else 2 end as partition"
    rows = spark.range(low, high).selectExpr("concat('k', id) as key", "string(id) as value", partition)
    options = {"kafka.bootstrap.servers": broker.bootstrap, "topic": topic}
    rows.write.format(format).options(**options).mode("append").save()


class Job:
    """A query into files that another source can continue."""

    def __init__(self, spark: Any, broker: Broker, topic: str, folder: Path) -> None:
        self._spark, self._broker, self._topic, self._folder = spark, broker, topic, folder

    def run(self, format: str, **options: str) -> list[int]:
        """Reads all available rows; returns the number of rows in each micro-batch."""
        given = {
            "kafka.bootstrap.servers": self._broker.bootstrap,
            "subscribe": self._topic,
            "startingOffsets": "earliest",
        }
        rows = self._spark.readStream.format(format).options(**given | options).load()
        written = rows.selectExpr("int(string(value)) as value", "partition").writeStream.format("parquet")
        written = written.option("checkpointLocation", str(self._folder / "checkpoint"))
        query = written.option("path", str(self._folder / "rows")).trigger(availableNow=True).start()
        assert query.awaitTermination(600)
        return [progress["numInputRows"] for progress in query.recentProgress if progress["numInputRows"]]

    def values(self) -> list[int]:
        rows = self._spark.read.schema("value int").parquet(str(self._folder / "rows")).collect()
        return sorted(row.value for row in rows)

    def positions(self) -> list[dict[str, dict[str, int]]]:
        """The offsets of each micro-batch, without fields that only our source has."""
        files = [path for path in (self._folder / "checkpoint" / "offsets").iterdir() if path.name.isdecimal()]
        kept = [
            json.loads(path.read_text().splitlines()[-1]) for path in sorted(files, key=lambda path: int(path.name))
        ]
        return [{key: value for key, value in one.items() if not key.startswith(RESERVED)} for one in kept]


LIMITS = (
    {"maxOffsetsPerTrigger": "40"},
    {"maxOffsetsPerTrigger": "2"},
    {"minPartitions": "8"},
    {"maxRecordsPerPartition": "7"},
    {"startingTimestamp": "1"},
)


@pytest.mark.parametrize("options", LIMITS, ids=[next(iter(each)) + each[next(iter(each))] for each in LIMITS])
def test_the_same_micro_batches(
    spark: Any, broker: Broker, topic: str, tmp_path: Path, options: dict[str, str]
) -> None:
    count = 8 if options == {"maxOffsetsPerTrigger": "2"} else 100
    write(spark, THEIRS, broker, topic, 0, count)
    jobs = {format: Job(spark, broker, topic, tmp_path / format) for format in (OURS, THEIRS)}
    batches = {format: job.run(format, **options) for format, job in jobs.items()}
    assert batches[OURS] == batches[THEIRS]
    assert jobs[OURS].positions() == jobs[THEIRS].positions()
    assert jobs[OURS].values() == jobs[THEIRS].values() == list(range(count))


def test_available_now_trigger_reads_a_rest_below_the_minimum(
    spark: Any, broker: Broker, topic: str, tmp_path: Path
) -> None:
    """As the documentation of Trigger.AvailableNow says: all rows that were there at the start."""
    write(spark, THEIRS, broker, topic, 0, 70)
    limits = {"maxOffsetsPerTrigger": "40", "minOffsetsPerTrigger": "35"}
    found = {
        format: sum(Job(spark, broker, topic, tmp_path / format).run(format, **limits)) for format in (OURS, THEIRS)
    }
    assert found[OURS] == 70
    assert found[THEIRS] < 70


@BOTH
def test_a_checkpoint_goes_from_one_to_the_other(
    spark: Any, broker: Broker, topic: str, tmp_path: Path, first: str, second: str
) -> None:
    job = Job(spark, broker, topic, tmp_path)
    write(spark, first, broker, topic, 0, 50)
    assert sum(batches := job.run(first, maxOffsetsPerTrigger="30")) == 50
    assert len(batches) == 2
    assert job.run(second) == []
    write(spark, second, broker, topic, 50, 70)
    assert job.run(second, startingOffsets="latest") == [20]
    write(spark, first, broker, topic, 70, 75)
    assert job.run(first) == [5]
    assert job.values() == list(range(75))


def test_spark_sinks_write_the_same_records(spark: Any, broker: Broker) -> None:
    rows = spark.range(500).selectExpr(
        "case when id % 9 = 0 then cast('' as string) else concat('key ', id) end as key",
        "case when id % 11 = 0 then null else cast(concat('value ', id) as binary) end as value",
        "case when id % 3 = 0 then array(named_struct('key', 'h', 'value', cast('1' as binary))) end as headers",
        "cast(case when id % 5 = 0 then id % 3 end as int) as partition",
        "'nothing' as comment",
    )
    found = {}
    for format in (OURS, THEIRS):
        made(broker, name := unique("written"))
        options = {"kafka.bootstrap.servers": broker.bootstrap, "topic": name, "kafka.compression.type": "lz4"}
        rows.write.format(format).options(**options).mode("append").save()
        options = {"kafka.bootstrap.servers": broker.bootstrap, "subscribe": name, "includeHeaders": "true"}
        read = spark.read.format(THEIRS).options(**options).load().select("key", "value", "partition", "headers")
        found[format] = sorted((tuple(row) for row in read.collect()), key=repr)
    assert found[OURS] == found[THEIRS]
    assert len(found[OURS]) == 500


def test_records_of_transactions(spark: Any, broker: Broker, topic: str) -> None:
    confluent = pytest.importorskip("confluent_kafka")
    settings = {"bootstrap.servers": broker.bootstrap, "transactional.id": topic, "log_level": 0}
    producer = confluent.Producer(settings)
    try:
        producer.init_transactions(60)
    except confluent.KafkaException as refused:
        pytest.skip(f"NO TRANSACTIONS WERE COMPARED: {refused}")
    for text, end in (("kept", producer.commit_transaction), ("lost", producer.abort_transaction)) * 2:
        producer.begin_transaction()
        for part in (0, 1, 2):
            producer.produce(topic, f"{text} {part}", partition=part)
        producer.flush(60)
        end(60)
    for isolation, count in (("read_committed", 6), ("read_uncommitted", 12)):
        options = {"kafka.bootstrap.servers": broker.bootstrap, "subscribe": topic, "kafka.isolation.level": isolation}
        ours, theirs = (
            sorted(map(tuple, spark.read.format(format).options(**options).load().collect()), key=lambda row: row[3:5])
            for format in (OURS, THEIRS)
        )
        assert ours == theirs
        assert len(ours) == count


def test_offsets_are_committed_to_a_group(spark: Any, broker: Broker, topic: str, tmp_path: Path) -> None:
    write(spark, OURS, broker, topic, 0, 14)
    Job(spark, broker, topic, tmp_path).run(OURS, commitToGroup=topic)
    with Client({"bootstrap.servers": broker.bootstrap}) as client:
        found = client.committed(topic, [TopicPartition(topic, part) for part in range(3)])
    assert [place and place.offset for place in found.values()] == [8, 4, 2]
