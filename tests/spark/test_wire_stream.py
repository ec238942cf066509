"""`kafka-wire` in streaming queries: micro-batches, restarts from checkpoints, and changes of
brokers and logs while a query runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.pipeline.wire.offsets import RESERVED
from tests.pipeline.wire.making import add_partitions
from tests.support.waiting import eventually

pytestmark = pytest.mark.timeout(600)

LONG = 400
"""Seconds that a query may take on a loaded machine."""


@pytest.fixture(scope="module")
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble() as double:
        yield double


@pytest.fixture
def topic(kafka: KafkaDouble, request: pytest.FixtureRequest) -> str:
    name = request.node.originalname.removeprefix("test_")
    kafka.create_topic(name, partitions=2)
    return str(name)


def fill(kafka: KafkaDouble, topic: str, count: int, start: int = 0) -> None:
    for number in range(start, start + count):
        kafka.produce(topic, str(number), partition=number % 2)


def reader(spark: Any, kafka: KafkaDouble, topic: str, **options: str) -> Any:
    arguments = {
        "kafka.bootstrap.servers": kafka.bootstrap_servers,
        "subscribe": topic,
        "startingOffsets": "earliest",
        **options,
    }
    return spark.readStream.format("kafka-wire").options(**arguments).load()


class Job:
    """A query into files, which can be run again from its checkpoint."""

    def __init__(self, spark: Any, folder: Path, kafka: KafkaDouble, topic: str) -> None:
        self.spark, self.folder, self.kafka, self.topic = spark, folder, kafka, topic

    def run(self, **options: str) -> list[int]:
        """Runs the query until it has read what is available; the number of rows in each
        micro-batch with rows."""
        rows = reader(self.spark, self.kafka, self.topic, **options).selectExpr(
            "cast(value as string) as value", "offset"
        )
        written = rows.writeStream.format("parquet").option("checkpointLocation", str(self.folder / "checkpoint"))
        query = written.option("path", str(self.folder / "rows")).trigger(availableNow=True).start()
        assert query.awaitTermination(LONG)
        return [progress["numInputRows"] for progress in query.recentProgress if progress["numInputRows"]]

    def values(self) -> list[int]:
        rows = self.spark.read.schema("value string").parquet(str(self.folder / "rows")).collect()
        return sorted(int(row.value) for row in rows)

    def kept(self) -> tuple[Path, list[str]]:
        """The last offsets of the checkpoint: the file, and its lines."""
        files = [path for path in (self.folder / "checkpoint" / "offsets").iterdir() if path.name.isdecimal()]
        last = max(files, key=lambda path: int(path.name))
        return last, last.read_text().splitlines()


@pytest.fixture
def job(spark: Any, tmp_path: Path, kafka: KafkaDouble, topic: str) -> Job:
    return Job(spark, tmp_path, kafka, topic)


def test_micro_batches_and_a_restart(kafka: KafkaDouble, topic: str, job: Job) -> None:
    fill(kafka, topic, 50)
    assert job.run(maxOffsetsPerTrigger="20") == [20, 20, 10]
    kept = json.loads(job.kept()[1][-1])
    assert kept[topic] == {"0": 25, "1": 25}
    assert [key.split()[:2] for key in kept if key != topic] == [[RESERVED, topic]]
    assert job.run() == []
    fill(kafka, topic, 4, start=50)
    assert job.run(startingOffsets="latest", minOffsetsPerTrigger="2") == [4]
    assert job.values() == list(range(54))


def test_a_checkpoint_as_sparks_connector_writes_it(kafka: KafkaDouble, topic: str, job: Job) -> None:
    fill(kafka, topic, 10)
    job.run()
    file, lines = job.kept()
    file.write_text("\n".join([*lines[:-1], f'{{"{topic}":{{"0":5,"1":5}}}}']))
    (file.parent / f".{file.name}.crc").unlink()
    fill(kafka, topic, 3, start=10)
    assert job.run() == [3]
    assert job.values() == list(range(13))


def test_a_truncation_is_named(kafka: KafkaDouble, topic: str, job: Job) -> None:
    fill(kafka, topic, 10)
    job.run()
    kafka.truncate(topic, 0, 3)
    fill(kafka, topic, 10, start=100)
    with pytest.raises(Exception, match="was truncated to offset 3") as lost:
        job.run()
    assert f"{topic}-0 was truncated to offset 3: the query had read up to 5 in leader epoch" in str(lost.value)
    assert job.run(failOnDataLoss="false") == [10]
    assert job.values() == [*range(10), *range(100, 110)]


def test_partitions_are_added(spark: Any, kafka: KafkaDouble, topic: str, tmp_path: Path) -> None:
    """The workers of a running query keep their clients between micro-batches, and so do the sink's
    workers."""
    fill(kafka, topic, 10)
    copied = f"{topic}_copy"
    kafka.create_topic(copied, partitions=2)
    rows = reader(spark, kafka, topic).selectExpr("value", "partition", f"'{copied}' as topic")
    options = {"kafka.bootstrap.servers": kafka.bootstrap_servers, "checkpointLocation": str(tmp_path)}
    running = rows.writeStream.format("kafka-wire").options(**options).start()
    try:
        running.processAllAvailable()
        for name in (copied, topic):
            add_partitions(kafka, name, 4)
        for number in range(10, 30):
            kafka.produce(topic, str(number), partition=number % 4)
        eventually(lambda: len(kafka.records(copied)) == 30)
    finally:
        running.stop()
    assert sorted(int(record.value or b"-1") for record in kafka.records(copied)) == list(range(30))


SOON = {"broker.session.timeout.ms": 3000, "broker.heartbeat.interval.ms": 300}
"""A dead broker is fenced soon, and another one becomes the leader."""


def test_a_leader_that_is_killed_while_the_query_runs(spark: Any) -> None:
    with KafkaDouble(brokers=3, config=SOON) as kafka:
        kafka.create_topic("t", partitions=2, replication_factor=3)
        query = reader(spark, kafka, "t").selectExpr("int(string(value)) as value")
        running = query.writeStream.format("memory").queryName("survived").start()
        try:
            fill(kafka, "t", 10)
            running.processAllAvailable()
            first = kafka.leader("t", 0)
            assert first is not None
            kafka.brokers[first].kill()
            eventually(lambda: all(kafka.leader("t", part) not in (None, first) for part in (0, 1)))
            fill(kafka, "t", 10, start=10)
            running.processAllAvailable()
            kafka.brokers[first].start()
            eventually(lambda: all(first in kafka.isr("t", part) for part in (0, 1)))
            kafka.move_leader("t", 1, first)
            fill(kafka, "t", 10, start=20)
            running.processAllAvailable()
        finally:
            running.stop()
    assert sorted(row.value for row in spark.table("survived").collect()) == list(range(30))


def test_from_topic_to_topic(spark: Any, kafka: KafkaDouble, topic: str, tmp_path: Path) -> None:
    fill(kafka, topic, 10)
    rows = reader(spark, kafka, topic, commitToGroup="shown").selectExpr(
        "cast(offset as string) as key", "value", "'counted' as topic"
    )
    options = {"kafka.bootstrap.servers": kafka.bootstrap_servers, "checkpointLocation": str(tmp_path)}
    query = rows.writeStream.format("kafka-wire").options(**options).trigger(availableNow=True).start()
    assert query.awaitTermination(LONG)
    assert sorted(int(record.value or b"-1") for record in kafka.records("counted")) == list(range(10))
    assert {part: found.offset for (name, part), found in kafka.groups()["shown"].offsets.items() if name == topic} == {
        0: 5,
        1: 5,
    }
