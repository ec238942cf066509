"""Transactions as Java's consumer, Spark's own connector, `kafka-wire` and `kafka-log` read them:
the same records at the same offsets, with both isolation levels, from Apache Kafka and from the
double."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from interop.brokers.double import Double
from interop.clients import CREATOR
from interop.local import cluster
from interop.local.cluster import Kafka
from interop.support import local_kafka, unique
from tests.support.waiting import eventually

from .mixed_transactions import PARTITIONS, MixedTransactions

pytestmark = pytest.mark.timeout(900)

CONSUMED = Path(__file__).with_name("Consumed.java")
LEVELS = ("read_uncommitted", "read_committed")
READ_COMMITTED = {"kafka.isolation.level": "read_committed"}


class Served(NamedTuple):
    """A running broker, and its log directory."""

    bootstrap: str
    data: Path


class Row(NamedTuple):
    """A record, as all readers show it."""

    partition: int
    offset: int
    key: str | None
    value: str


@pytest.fixture(scope="module", params=["kafka", "double"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp(request.param)
    with local_kafka(request):
        if request.param == "kafka":
            with cluster(folder, request.config.getoption("kafka")) as running:
                yield Served(running.bootstrap, running.nodes[0].data)
            return
        # Java's consumer is needed for the double, too.
        Kafka().java("")
    server = Double(str(folder))
    try:
        server.start()
        yield Served(server.bootstrap, folder)
    finally:
        server.stop()


def created(served: Served) -> str:
    topic = unique("transactions")
    with CREATOR.admin(served.bootstrap) as admin:
        admin.create_topic(topic, PARTITIONS)
        eventually(admin.topics, lambda found: topic in found)
    return topic


def mixed(served: Served, topic: str) -> MixedTransactions:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    return MixedTransactions(served.bootstrap, topic, seed)


def of_java(served: Served, topic: str, isolation: str) -> tuple[list[Row], dict[int, int]]:
    """The records that Java's consumer reads up to the end of each partition, and these ends."""
    lines = Kafka().call(str(CONSUMED), served.bootstrap, topic, isolation).splitlines()
    words = [line.split(" ") for line in lines if line.startswith(("record ", "end "))]
    rows = [
        Row(int(word[1]), int(word[2]), None if word[3] == "-" else word[3], word[4])
        for word in words
        if word[0] == "record"
    ]
    return sorted(rows, key=lambda row: row[:2]), {int(word[1]): int(word[2]) for word in words if word[0] == "end"}


def collected(frame: Any) -> list[Row]:
    found = frame.selectExpr("partition", "offset", "string(key) as key", "string(value) as value").collect()
    return sorted((Row(*row) for row in found), key=lambda row: row[:2])


def of_broker(spark: Any, format: str, served: Served, topic: str, isolation: str, **options: str) -> list[Row]:
    arguments = {"kafka.bootstrap.servers": served.bootstrap, "subscribe": topic, "kafka.isolation.level": isolation}
    return collected(spark.read.format(format).options(**arguments, **options).load())


def of_files(spark: Any, served: Served, topic: str, isolation: str, **options: str) -> list[Row]:
    arguments = {"topics": topic, "isolation": isolation, **options}
    return collected(spark.read.format("kafka-log").options(**arguments).load(str(served.data)))


READERS: dict[str, Callable[[Any, Served, str, str], list[Row]]] = {
    "Spark's connector": lambda *given: of_broker(given[0], "kafka", *given[1:]),
    "kafka-wire": lambda *given: of_broker(given[0], "kafka-wire", *given[1:]),
    "kafka-wire, many tasks": lambda *given: of_broker(given[0], "kafka-wire", *given[1:], maxRecordsPerPartition="3"),
    "kafka-log": of_files,
    "kafka-log, many tasks": lambda *given: of_files(*given, splitBytes="500"),
}


def agree(spark: Any, served: Served, topic: str, writing: MixedTransactions) -> dict[str, list[Row]]:
    """Asserts that all readers agree, and that they read what was written; returns the records by
    isolation level."""
    found = {}
    for isolation in LEVELS:
        found[isolation] = rows = of_java(served, topic, isolation)[0]
        for partition in range(PARTITIONS):
            values = [row.value for row in rows if row.partition == partition]
            assert values == writing.values(partition, isolation), isolation
        for name, read in READERS.items():
            found_rows = read(spark, served, topic, isolation)
            if found_rows != rows:
                lacking = [row for row in rows if row not in found_rows]
                more = [row for row in found_rows if row not in rows]
                again = "agrees" if read(spark, served, topic, isolation) == rows else "does not agree either"
                pytest.fail(f"{name}, {isolation}: it lacks {lacking}, and has {more}; a second read {again}")
    return found


def test_all_readers_agree_on_mixed_transactions(spark: Any, served: Served) -> None:
    """First all transactions are decided. Then one is open in both partitions, with decided and
    open ones behind it. Then all are decided again."""
    topic = created(served)
    writing = mixed(served, topic)
    slow, *others = writing.writers
    writing.run(100, writing.writers)
    writing.end_all(writing.writers)
    decided = agree(spark, served, topic, writing)
    assert 0 < len(decided["read_committed"]) < len(decided["read_uncommitted"])
    for partition in range(PARTITIONS):
        writing.send(slow, partition)
    writing.run(60, others)
    still = agree(spark, served, topic, writing)
    assert still["read_committed"] == decided["read_committed"]
    assert len(still["read_uncommitted"]) > len(decided["read_uncommitted"])
    writing.end_all(writing.writers)
    ended = agree(spark, served, topic, writing)
    assert len(ended["read_committed"]) > len(decided["read_committed"])


class Stream:
    """A streaming query that keeps its checkpoint from run to run, with read_committed."""

    def __init__(self, spark: Any, format: str, served: Served, topic: str, folder: Path, **options: str) -> None:
        given = {"kafka.bootstrap.servers": served.bootstrap, "subscribe": topic, **READ_COMMITTED, **options}
        self._spark, self._format, self._options, self._folder = spark, format, given, folder

    def run(self, format: str | None = None) -> dict[str, int]:
        """Reads all available rows; returns the end offset of each partition."""
        rows = self._spark.readStream.format(format or self._format).options(**self._options).load()
        columns = rows.selectExpr("partition", "offset", "string(key) as key", "string(value) as value")
        written = columns.writeStream.format("parquet").option("checkpointLocation", str(self._folder / "checkpoint"))
        query = written.option("path", str(self._folder / "rows")).trigger(availableNow=True).start()
        assert query.awaitTermination(600)
        files = [path for path in (self._folder / "checkpoint" / "offsets").iterdir() if path.name.isdecimal()]
        newest = max(files, key=lambda path: int(path.name)).read_text().splitlines()[-1]
        ends: dict[str, int] = json.loads(newest)[self._options["subscribe"]]
        return ends

    def rows(self) -> list[Row]:
        return collected(self._spark.read.parquet(str(self._folder / "rows")))


@pytest.mark.parametrize("limit", [{}, {"maxOffsetsPerTrigger": "7"}], ids=["all at once", "in pieces"])
def test_micro_batches_end_before_an_open_transaction(
    spark: Any, served: Served, tmp_path: Path, limit: dict[str, str]
) -> None:
    """Both sources stop at the last stable offset, and continue when the transaction is decided,
    each from the other's checkpoint at last. In pieces, micro-batches also end inside of decided
    transactions."""
    topic = created(served)
    writing = mixed(served, topic)
    slow, *others = writing.writers
    options = {"startingOffsets": "earliest", **limit}
    streams = {name: Stream(spark, name, served, topic, tmp_path / name, **options) for name in ("kafka-wire", "kafka")}
    for commit in (True, False):
        writing.run(20, others)
        writing.end_all(others)
        for partition in range(PARTITIONS):
            writing.send(slow, partition)
        writing.run(20, others)
        _check_streams(served, topic, writing, streams)
        writing.end(slow, commit=commit)
        writing.end_all(others)
        _check_streams(served, topic, writing, streams)
    writing.run(10, others)
    writing.end_all(others)
    rows, ends = of_java(served, topic, "read_committed")
    for name, other in (("kafka-wire", "kafka"), ("kafka", "kafka-wire")):
        assert streams[name].run(other) == {str(partition): end for partition, end in ends.items()}
        assert streams[name].rows() == rows, f"{name}, continued by {other}"


def _check_streams(served: Served, topic: str, writing: MixedTransactions, streams: dict[str, Stream]) -> None:
    rows, ends = of_java(served, topic, "read_committed")
    for partition in range(PARTITIONS):
        assert [row.value for row in rows if row.partition == partition] == writing.values(partition, "read_committed")
    for name, stream in streams.items():
        assert stream.run() == {str(partition): end for partition, end in ends.items()}, name
        assert stream.rows() == rows, name


@pytest.mark.parametrize("format", ["kafka-wire", "kafka"])
def test_latest_is_the_last_stable_offset(spark: Any, served: Served, tmp_path: Path, format: str) -> None:
    """A stream that begins at the latest offsets begins with the open transaction."""
    topic = created(served)
    writing = mixed(served, topic)
    slow = writing.writers[0]
    for partition in range(PARTITIONS):
        writing.send(None, partition)
        writing.send(slow, partition)
        writing.send(None, partition)
    before = of_java(served, topic, "read_committed")[1]
    assert before == dict.fromkeys(range(PARTITIONS), 1)
    stream = Stream(spark, format, served, topic, tmp_path, startingOffsets="latest")
    assert stream.run() == {str(partition): end for partition, end in before.items()}
    writing.end(slow, commit=True)
    stream.run()
    rows = stream.rows()
    for partition in range(PARTITIONS):
        values = [row.value for row in rows if row.partition == partition]
        assert values == writing.values(partition, "read_committed")[1:]
