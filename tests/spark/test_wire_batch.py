"""`kafka-wire` in batch queries: rows that are written are read back, only the requested columns
are made, and errors are one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafkadouble import KafkaDouble

pytestmark = pytest.mark.timeout(600)

HEADERS = "array(named_struct('key', 'n', 'value', cast(cast(id as string) as binary)))"
SCHEMA = (
    "struct<key:binary,value:binary,topic:string,partition:int,offset:bigint,timestamp:timestamp,timestampType:int,"
    "headers:array<struct<key:string,value:binary>>,leader_epoch:int>"
)


@pytest.fixture(scope="module")
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble(config={"auto.create.topics.enable": "false"}) as double:
        double.create_topic("written", partitions=3)
        double.create_topic("orders", partitions=3)
        double.create_topic("empty")
        for number in range(60):
            double.produce("orders", str(number), partition=number % 3)
        yield double


def source(spark: Any, kafka: KafkaDouble, **options: str) -> Any:
    arguments = {"kafka.bootstrap.servers": kafka.bootstrap_servers, **options}
    return spark.read.format("kafka-wire").options(**arguments)


def sink(rows: Any, kafka: KafkaDouble, **options: str) -> None:
    arguments = {"kafka.bootstrap.servers": kafka.bootstrap_servers, **options}
    rows.write.format("kafka-wire").options(**arguments).mode("append").save()


def test_written_records_are_read(spark: Any, kafka: KafkaDouble) -> None:
    rows = spark.range(3000).selectExpr(
        "concat('k', id % 50) as key", "concat('v', id) as value", f"{HEADERS} as headers"
    )
    sink(rows, kafka, topic="written", **{"kafka.compression.type": "zstd"})
    found = source(spark, kafka, subscribe="written", includeHeaders="true", includeLeaderEpoch="true").load()
    assert found.schema.simpleString() == SCHEMA
    values = found.selectExpr(
        "count(*)", "count(distinct value)", "count(distinct partition)", "sum(leader_epoch)", "min(topic)",
        "sum(case when substr(cast(value as string), 2) = cast(headers[0].value as string) then 1 else 0 end)",
    ).first()  # fmt: skip
    assert list(values) == [3000, 3000, 3, 0, "written", 3000]
    places = found.selectExpr("partition", "offset").groupBy("partition").agg({"offset": "max", "*": "count"}).collect()
    assert all(row["max(offset)"] == row["count(1)"] - 1 for row in places)


def test_only_the_columns_of_a_given_schema_are_made(spark: Any, kafka: KafkaDouble) -> None:
    offsets = '{"orders":{"0":0,"1":5,"2":-2}}'
    found = source(
        spark, kafka, subscribe="orders", startingOffsets=offsets, endingOffsets='{"orders":{"0":3,"1":9,"2":0}}'
    )
    rows = found.schema("leader_epoch int, offset long, partition int").load().orderBy("partition", "offset").collect()
    assert [tuple(row) for row in rows] == [(0, offset, partition) for partition, offset in PLACES]


PLACES = [(0, 0), (0, 1), (0, 2), (1, 5), (1, 6), (1, 7), (1, 8)]


def test_a_topic_without_records(spark: Any, kafka: KafkaDouble) -> None:
    assert source(spark, kafka, subscribe="empty").load().count() == 0


def test_many_tasks_for_one_partition(spark: Any, kafka: KafkaDouble) -> None:
    found = source(spark, kafka, assign='{"orders":[0]}', minPartitions="4").load()
    assert found.rdd.getNumPartitions() == 4
    assert found.selectExpr("count(distinct offset) = max(offset) + 1").first()[0]


def test_a_view_in_sql(spark: Any, kafka: KafkaDouble) -> None:
    options = f"`kafka.bootstrap.servers` '{kafka.bootstrap_servers}', subscribePattern 'ord.*'"
    spark.sql(f"CREATE OR REPLACE TEMP VIEW orders USING `kafka-wire` OPTIONS ({options})")
    assert spark.sql("SELECT count(*) FROM orders WHERE partition >= 0").first()[0] == 60


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"subscribe": "orders", "startOffset": "1"}, "kafka-wire has no option startoffset"),
        ({"subscribe": "orders", "minPartitions": "few"}, "the option minPartitions is not a whole number: 'few'"),
        ({"subscribe": "nowhere"}, "the cluster has no topic 'nowhere'"),
        ({"subscribe": "orders", "kafka.auto.offset.reset": "latest"}, "kafka.auto.offset.reset is not supported"),
        (
            {"subscribe": "orders", "kafka.bootstrap.servers": "127.0.0.1:1", "kafka.default.api.timeout.ms": "10"},
            "127.0.0.1:1",
        ),
    ],
)
def test_refused_query_of_spark_is_reported_in_a_sentence(
    spark: Any, kafka: KafkaDouble, options: dict[str, str], words: str
) -> None:
    with pytest.raises(Exception, match=r"kafka") as refused:
        source(spark, kafka, **options).load().count()
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("columns", "topic", "words"),
    [
        (["id as value"], "orders", "the column value is of type bigint; it must be string or binary"),
        (["'x' as key"], "orders", "the rows have no column value"),
        (["'x' as value"], "nowhere", "the cluster has no topic 'nowhere'"),
        (["'x' as value", "7 as partition"], "orders", "a row has partition 7 of the topic orders"),
        (["'x' as value", "cast(null as string) as topic"], "", "a row has null for its topic"),
    ],
)
def test_refused_write_of_spark_is_reported_in_a_sentence(
    spark: Any, kafka: KafkaDouble, columns: list[str], topic: str, words: str
) -> None:
    with pytest.raises(Exception, match=r"kafka") as refused:
        sink(spark.range(1).selectExpr(*columns), kafka, **({"topic": topic} if topic else {}))
    assert words in str(refused.value)


def test_a_topic_is_not_overwritten(spark: Any, kafka: KafkaDouble) -> None:
    options = {"kafka.bootstrap.servers": kafka.bootstrap_servers, "topic": "orders"}
    with pytest.raises(Exception, match="a topic cannot be overwritten"):
        spark.range(1).selectExpr("'x' as value").write.format("kafka-wire").options(**options).mode("overwrite").save()
