"""A batch query by `kafka-wire` and by Spark's own connector, for every option: the same rows, in
the same number of tasks, or both refuse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

from interop.brokers import Broker
from interop.clients import CREATOR
from interop.support import unique
from kafkadouble.pipeline.client import Client, TopicPartition
from kafkadouble.wire import columns
from tests.support.waiting import eventually

pytestmark = pytest.mark.timeout(900)

OURS, THEIRS = "kafka-wire", "kafka"
FIRST = 1_700_000_000_000
"""The timestamp of each partition's first record, in ms; each later one is a second later."""
FOREVER = {"retention.ms": "-1"}
"""Records of those times are older than the default retention."""
HEADERS = pa.list_(pa.field("element", pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])))


class Topics:
    """`a` has three partitions, with 30, 5 and no records; `b` has one, with 7 records in a batch
    for each codec."""

    def __init__(self, broker: Broker) -> None:
        self.bootstrap = broker.bootstrap
        self.a, self.b = unique("left"), unique("right")
        with CREATOR.admin(broker.bootstrap) as admin:
            admin.create_topic(self.a, 3, FOREVER)
            admin.create_topic(self.b, 1, FOREVER)
        with Client({"bootstrap.servers": self.bootstrap}) as client, client.producer() as producer:
            eventually(lambda: set(client.topics()), {self.a, self.b}.issubset)
            producer.send({TopicPartition(self.a, 0): _batches(30, 0), TopicPartition(self.a, 1): _batches(5, 1)})
            producer.send({TopicPartition(self.b, 0): [batch for codec in range(5) for batch in _batches(7, codec)]})

    def named(self, text: str) -> str:
        """Replaces A and B in options by the names of the topics, and T by the first timestamp."""
        for mark, name in (("'A'", f'"{self.a}"'), ("'B'", f'"{self.b}"'), ("$A", self.a), ("$B", self.b)):
            text = text.replace(mark, name)
        return text.replace("'", '"')


def _batches(count: int, codec: int) -> list[bytes]:
    rows = {
        "key": pa.array([f"key {at}" if at % 5 else None for at in range(count)]),
        "value": pa.array([f"value {at}" if at % 7 else None for at in range(count)]),
        "timestamp": pa.array([FIRST + 1000 * at for at in range(count)], pa.timestamp("ms", "UTC")),
        "headers": pa.array([[{"key": "h", "value": b"%d" % at}] * (at % 3) for at in range(count)], HEADERS),
    }
    return columns.encode(pa.RecordBatch.from_pydict(rows), codec=codec, now=0, max_bytes=300)


@pytest.fixture(scope="module")
def topics(broker: Broker) -> Topics:
    return Topics(broker)


def query(spark: Any, format: str, topics: Topics, options: Mapping[str, str]) -> Any:
    given = {"kafka.bootstrap.servers": topics.bootstrap} | {key: topics.named(text) for key, text in options.items()}
    return spark.read.format(format).options(**given).load()


def rows(frame: Any) -> list[Any]:
    return sorted((tuple(row) for row in frame.collect()), key=lambda row: row[2:5])


A = {"subscribe": "$A"}
ROWS: dict[str, dict[str, str]] = {
    "subscribe": A,
    "subscribe, two": {"subscribe": "$A, $B"},
    "subscribePattern": {"subscribePattern": "^$A$|^$B"},
    "subscribePattern finds": {"subscribePattern": "(?i)[\\p{Lower}]ight-"},
    "assign": {"assign": "{'A':[1,0],'B':[0]}"},
    "startingOffsets": A | {"startingOffsets": "{'A':{'0':7,'1':-2,'2':0}}"},
    "startingOffsets, a word": A | {"startingOffsets": "Earliest"},
    "endingOffsets": A | {"endingOffsets": "{'A':{'0':7,'1':-1,'2':0}}"},
    "both offsets": A | {"startingOffsets": "{'A':{'0':3,'1':5,'2':0}}", "endingOffsets": "{'A':{'0':4,'1':5,'2':0}}"},
    "startingTimestamp": {"subscribe": "$B", "startingTimestamp": str(FIRST + 4500)},
    "startingTimestamp, none": A | {"startingTimestamp": str(FIRST + 9500), "startingOffsetsByTimestampStrategy": "latest"},
    "startingOffsetsByTimestamp": A
    | {"startingOffsetsByTimestamp": f"{{'A':{{'0':{FIRST + 28_000},'1':{FIRST},'2':5}}}}", "startingOffsetsByTimestampStrategy": "latest"},
    "endingTimestamp": A | {"endingTimestamp": str(FIRST + 3000)},
    "endingOffsetsByTimestamp": A | {"endingOffsetsByTimestamp": f"{{'A':{{'0':{FIRST + 1},'1':{FIRST},'2':5}}}}"},
    "a timestamp goes before offsets": {"subscribe": "$B", "startingTimestamp": str(FIRST + 3000), "startingOffsets": "{'B':{'0':9}}"},
    "failOnDataLoss": A | {"failOnDataLoss": "false"},
    "includeHeaders": A | {"includeHeaders": "true"},
    "includeHeaders, codecs": {"subscribe": "$B", "includeHeaders": "TRUE"},
    "minPartitions": A | {"minPartitions": "7"},
    "minPartitions, few": A | {"minPartitions": "2"},
    "maxRecordsPerPartition": A | {"maxRecordsPerPartition": "4"},
    "both of them": {"subscribe": "$A,$B", "maxRecordsPerPartition": "20", "minPartitions": "9"},
    "groupIdPrefix": A | {"groupIdPrefix": "mine"},
    "patience": A | {"kafkaConsumer.pollTimeoutMs": "60000", "fetchOffset.numRetries": "5", "fetchOffset.retryIntervalMs": "20"},
    "client properties": A | {"kafka.isolation.level": "read_committed", "kafka.client.id": "mine", "kafka.max.poll.records": "3"},
    "of streams": A | {"maxOffsetsPerTrigger": "3", "minOffsetsPerTrigger": "2", "maxTriggerDelay": "1m"},
}  # fmt: skip


WITHOUT_TASKS = ROWS["maxRecordsPerPartition"]
"""In a batch without minPartitions the connector, 4.2.0, ignores this option; kafka-wire does
not."""


@pytest.mark.parametrize("options", ROWS.values(), ids=ROWS.keys())
def test_the_same_rows_in_as_many_tasks(spark: Any, topics: Topics, options: dict[str, str]) -> None:
    ours, theirs = (query(spark, format, topics, options) for format in (OURS, THEIRS))
    assert ours.schema.simpleString() == theirs.schema.simpleString()
    found = rows(theirs)
    assert rows(ours) == found
    assert found or options.get("startingTimestamp") == str(FIRST + 9500), "a comparison of nothing"
    if options == WITHOUT_TASKS:
        return
    spread = ours.selectExpr("topic", "partition", "offset", "spark_partition_id() as task")
    expected = theirs.selectExpr("topic", "partition", "offset", "spark_partition_id() as task")
    assert cuts(spread) == cuts(expected)


def cuts(frame: Any) -> list[list[Any]]:
    """The rows that each task read, without the order of tasks."""
    tasks: dict[int, list[Any]] = {}
    for *place, task in frame.collect():
        tasks.setdefault(task, []).append(place)
    return sorted(sorted(places) for places in tasks.values())


REFUSED: dict[str, dict[str, str]] = {
    "no topics": {},
    "two ways": A | {"subscribePattern": "x"},
    "nothing to subscribe": {"subscribe": ","},
    "nothing to find": {"subscribePattern": " "},
    "no assignment": {"assign": "$A"},
    "latest to begin": A | {"startingOffsets": "latest"},
    "latest of a partition": A | {"startingOffsets": "{'A':{'0':-1,'1':0,'2':0}}"},
    "earliest to end": A | {"endingOffsets": "earliest"},
    "not all partitions": A | {"startingOffsets": "{'A':{'0':1}}"},
    "other partitions": A | {"startingOffsets": "{'A':{'0':1,'1':0,'2':0}}", "endingOffsets": "{'A':{'0':1,'1':0}}"},
    "behind its end": A | {"startingOffsets": "{'A':{'0':9,'1':0,'2':0}}", "endingOffsets": "{'A':{'0':1,'1':0,'2':0}}"},
    "no record so young": A | {"startingTimestamp": str(FIRST + 9500)},
    "no number": A | {"startingTimestamp": "now"},
    "no JSON": A | {"startingOffsets": "{"},
    "no strategy": A | {"startingTimestamp": "1", "startingOffsetsByTimestampStrategy": "guess"},
    "no boolean": A | {"failOnDataLoss": "perhaps"},
    "minPartitions": A | {"minPartitions": "0"},
    "maxRecordsPerPartition": A | {"maxRecordsPerPartition": "0"},
    "min above max": A | {"minOffsetsPerTrigger": "5", "maxOffsetsPerTrigger": "4"},
    **{f"kafka.{name}": A | {f"kafka.{name}": "x"} for name in (
        "auto.offset.reset", "key.deserializer", "value.deserializer", "enable.auto.commit", "interceptor.classes",
    )},
}  # fmt: skip


@pytest.mark.parametrize("options", REFUSED.values(), ids=REFUSED.keys())
def test_spark_sources_refuse_the_same_options(spark: Any, topics: Topics, options: dict[str, str]) -> None:
    with pytest.raises(Exception, match=r"."):
        query(spark, THEIRS, topics, options).collect()
    with pytest.raises(Exception, match=r"\bUsageError: [^\n]+\n"):
        query(spark, OURS, topics, options).collect()
