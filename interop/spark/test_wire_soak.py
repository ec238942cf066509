"""A stream from an Apache Kafka of three brokers, with a checkpoint, under all disturbances of a
cluster.

Partitions are added, topics are deleted and created again, records are deleted, leaders move,
brokers are shut down and killed, and the query itself restarts from its checkpoint. Every row comes
once, and the Python processes below Spark do not grow. A sample always runs; the full test of some
hundred micro-batches runs with KAFKADOUBLE_INTEROP_ALL=1.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.spark.session import Session
from interop.local import Cluster, cluster
from interop.support import local_kafka
from tests.support.waiting import eventually

from .soak import AGAIN, GROWN, SAMPLE, STEPS, TOPICS, Soak

ALL = bool(os.environ.get("KAFKADOUBLE_INTEROP_ALL"))
ROUNDS, OF_A_ROUND = (6, STEPS) if ALL else (1, SAMPLE)
PER_TRIGGER = "20"
LEAST_BATCHES = 20
"""The least number of micro-batches in one round: rows of three topics need at least as many."""
MOST_INCREASE = 16 << 20
"""Bytes by which a process may grow in the second half, for batches that it keeps."""

pytestmark = [pytest.mark.timeout(3000 if ALL else 900), pytest.mark.flaky(reruns=0)]


@pytest.fixture(scope="module")
def kafka(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with local_kafka(request), cluster(tmp_path_factory.mktemp("soak"), brokers=3) as running:
        yield running


class Query:
    """A stream into Parquet files that continues from its checkpoint. Spark's file sink keeps the
    rows of each micro-batch once."""

    def __init__(self, spark: Any, kafka: Cluster, folder: Path) -> None:
        self._spark, self._bootstrap = spark, kafka.bootstrap
        self._files, self._checkpoint = folder / "rows", folder / "checkpoint"
        self._seen: dict[Path, list[str]] = {}
        self.start()

    def start(self) -> None:
        options = {
            "kafka.bootstrap.servers": self._bootstrap,
            "subscribe": ",".join(TOPICS),
            "startingOffsets": "earliest",
            "failOnDataLoss": "false",
            "maxOffsetsPerTrigger": PER_TRIGGER,
        }
        rows = self._spark.readStream.format("kafka-wire").options(**options).load()
        writer = rows.selectExpr("string(value) as value").writeStream.format("parquet")
        self._query = writer.option("checkpointLocation", str(self._checkpoint)).start(str(self._files))

    def stop(self) -> None:
        self._query.stop()

    def read(self, certain: set[str]) -> None:
        """Waits until all these rows have come."""
        eventually(lambda: len(certain - self._written()), lambda missing: not missing, within=300)

    def finish(self) -> None:
        """Stops after the micro-batch whose files came last: Spark drops the rows of an unfinished
        one."""
        self._query.processAllAvailable()
        self.stop()

    def rows(self) -> Counter[str]:
        """The rows of the finished micro-batches."""
        return Counter(row.value for row in self._spark.read.schema("value string").parquet(str(self._files)).collect())

    def batches(self) -> int:
        """The number of finished micro-batches."""
        found = [int(path.name) for path in (self._checkpoint / "commits").iterdir() if path.name.isdecimal()]
        # Spark keeps the files of the last hundred
        return max(found) + 1

    def _written(self) -> set[str]:
        """The rows in all files. Raises the error that ended the query, if any."""
        if (problem := self._query.exception()) is not None:
            raise problem
        for path in set(self._files.glob("*.parquet")) - self._seen.keys():
            with suppress(pa.ArrowInvalid, OSError):  # a file that is not complete yet
                self._seen[path] = pq.read_table(path)["value"].to_pylist()
        return {value for values in self._seen.values() for value in values}


def test_a_stream_outlives_what_happens_to_its_cluster(spark: Any, kafka: Cluster, tmp_path: Path) -> None:
    seed = int(os.environ.get("SOAK_SEED", "14"))
    print(f"SOAK_SEED={seed}")
    soak, session, sizes = Soak(kafka, seed), Session(spark), []
    query = Query(spark, kafka, tmp_path)
    try:
        for number in range(ROUNDS):
            for step in Random(seed + number).sample(OF_A_ROUND, len(OF_A_ROUND)):
                write(soak, *TOPICS)
                query.read(soak.certain)
                sizes.append(session.python_memory())
                step(soak)
            restart(query, soak)
        sizes.append(session.python_memory())
        query.finish()
    finally:
        query.stop()
    rows, grown = query.rows(), increase(sizes)
    print(f"{query.batches()} micro-batches, {len(rows)} rows; processes grew by {[size >> 10 for size in grown]} KiB")
    assert max(rows.values()) == 1
    assert soak.certain <= rows.keys() <= soak.certain | soak.possible
    assert query.batches() >= ROUNDS * LEAST_BATCHES
    assert max(grown) <= MOST_INCREASE


def write(soak: Soak, *topics: str) -> None:
    for topic in topics:
        soak.write(topic)


def restart(query: Query, soak: Soak) -> None:
    """Stops the query while rows arrive, deletes others while it does not run, and restarts it from
    its checkpoint."""
    write(soak, *TOPICS)
    query.read(soak.certain)
    write(soak, GROWN, AGAIN)
    query.stop()
    soak.lose()
    query.start()
    query.read(soak.certain)


def increase(sizes: list[dict[int, int]]) -> list[int]:
    """The growth in bytes from the middle to the end, for each process that worked before the
    middle."""
    middle = len(sizes) // 2
    old = sizes[middle - 1].keys() & sizes[middle].keys() & sizes[-1].keys()
    return [sizes[-1][pid] - sizes[middle][pid] for pid in old]
