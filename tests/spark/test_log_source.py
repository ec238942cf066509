"""`kafka-log` in Spark: the rows of `open_log`, read in parallel, with Spark's names for options,
and errors of one sentence."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kafkadouble import open_log
from kafkadouble.pipeline.logs.levels import LEVELS, level_of, options_of
from kafkadouble.pipeline.logs.pieces import SegmentPiece
from kafkadouble.pipeline.logs.segments import SegmentListing
from kafkadouble.pipeline.spark import divergence

from .log_pages import replicas

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "log_directory"


def log(spark: Any, **options: object) -> Any:
    return spark.read.format("kafka-log").options(**options)


def test_records_are_those_of_open_log(spark: Any) -> None:
    """All columns, also headers and control records, with the large segments in several splits."""
    from pyspark.sql.functions import spark_partition_id

    frame = log(spark, includeHeaders=True, includeControl=True, splitBytes=2000).load(str(GOLDEN))
    seconds = frame.withColumn("timestamp", frame.timestamp.cast("double"))
    found = [row.asDict(recursive=True) for row in seconds.withColumn("task", spark_partition_id()).collect()]
    opened = open_log(GOLDEN, include_headers=True, include_control=True, split_bytes=2000)
    assert frame.columns == opened.schema.names
    assert 5 < len({row.pop("task") for row in found}) <= len(opened.pieces)
    expected = opened.to_table().to_pylist()
    assert [_plain(row) for row in sorted(found, key=_place)] == [
        _plain(row | {"timestamp": row["timestamp"].timestamp()}) for row in sorted(expected, key=_place)
    ]


def _place(row: dict[str, Any]) -> list[Any]:
    return [row[name] for name in ("topic", "partition", "offset")]


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Spark returns bytearrays, which are equal to bytes."""
    return {name: bytes(value) if isinstance(value, bytearray) else value for name, value in row.items()}


def test_the_columns_are_sparks_own_first(spark: Any) -> None:
    frame = log(spark, includeHeaders=True).load(str(GOLDEN))
    assert frame.schema.simpleString().startswith(
        "struct<key:binary,value:binary,topic:string,partition:int,offset:bigint,timestamp:timestamp,timestampType:int,"
        "headers:array<struct<key:string,value:binary>>,leader_epoch:int,base_offset:bigint,"
    )
    assert [field.nullable for field in frame.schema.fields] == [True] * len(frame.columns)


def test_a_schema_is_honoured_in_its_order(spark: Any) -> None:
    frame = log(spark, topics="mixed").schema("offset long, topic string").load(str(GOLDEN))
    assert frame.columns == ["offset", "topic"]
    assert frame.agg({"offset": "sum"}).collect()[0][0] == sum(
        open_log(GOLDEN, topics="mixed", columns=["offset"]).to_table()["offset"].to_pylist()
    )


def test_several_paths_and_segments(spark: Any) -> None:
    paths = [str(GOLDEN / "mixed-0"), str(GOLDEN / "mixed-1")]
    rows = log(spark, level="segments").load(paths).select("partition", "records", "epochs", "replica").collect()
    assert sorted((row.partition, row.records, [tuple(epoch) for epoch in row.epochs]) for row in rows) == [
        (0, 48, [(0, 0)]),
        (1, 42, [(0, 0)]),
    ]
    assert {row.replica for row in rows} == {str(GOLDEN)}


def test_empty_log_gives_no_row(spark: Any) -> None:
    assert log(spark, topics="mixed", startingOffsets=1000).load(str(GOLDEN)).count() == 0


def test_filters_are_pushed_down_on_request(spark: Any) -> None:
    where = "topic = 'mixed' AND partition IN (0, 7) AND offset >= 40 AND offset < 45 AND timestamp > timestamp '2026-01-01 00:00:00'"
    whole = log(spark).load(str(GOLDEN)).where(where)
    spark.conf.set("spark.sql.python.filterPushdown.enabled", True)
    try:
        narrow = log(spark, pushdown=True).load(str(GOLDEN)).where(where)
        assert [row.asDict() for row in narrow.collect()] == [row.asDict() for row in whole.collect()]
        assert log(spark, pushdown=True).load(str(GOLDEN)).where("topic = 'nowhere'").count() == 0
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")


@pytest.fixture
def source() -> Any:
    """The source alone: it needs pyspark, but no session."""
    return pytest.importorskip(
        "kafkadouble.pipeline.spark.log_source", reason="NOTHING OF SPARK WAS TESTED: pip install 'kafkadouble[spark]'"
    )


def test_filters_limit_the_segments_that_are_read(source: Any) -> None:
    """The planned pieces show what is read."""
    from pyspark.sql.datasource import EqualTo, GreaterThanOrEqual, In, LessThan, Not
    from pyspark.sql.types import StructType

    def planned(*filters: Any) -> list[Any]:
        reader: Any = source.KafkaLog({"path": str(GOLDEN), "pushdown": "true"}).reader(StructType([]))
        assert list(reader.pushFilters(list(filters))) == list(filters)
        return [piece for partition in reader.partitions() for piece in partition.value]

    at = datetime(2026, 11, 21, 17, 52, tzinfo=UTC)
    assert len(planned()) == len(planned(Not(EqualTo(("topic",), "mixed")), EqualTo(("codec",), "zstd"))) == 5
    assert [piece.segment.partition for piece in planned(EqualTo(("topic",), "mixed"))] == [0, 1]
    assert [piece.segment.topic for piece in planned(In(("partition",), (1, 3)))] == ["mixed"]
    assert planned(EqualTo(("topic",), "mixed"), EqualTo(("topic",), "paid")) == []
    bounded = planned(
        GreaterThanOrEqual(("offset",), 40), LessThan(("offset",), 45), GreaterThanOrEqual(("timestamp",), at)
    )
    assert {(piece.first, piece.end_offset, piece.since) for piece in bounded} == {(40, 46, int(at.timestamp() * 1000))}


def test_small_pieces_share_a_task(source: Any) -> None:
    sizes = [1, 2, 7, 1, 9, 3, 3]
    pieces = [SegmentPiece(SegmentListing("", "", "", None, None, size, 0), 0, size) for size in sizes]
    assert [[piece.size for piece in each] for each in source.grouped(pieces, 5)] == [[1, 2, 7], [1, 9], [3, 3]]


@pytest.mark.parametrize(
    ("options", "path", "message"),
    [
        ({"topic": "mixed"}, GOLDEN, "there is no option 'topic' at level records: choose from endingOffsets, "),
        ({"splitBytes": "big"}, GOLDEN, "option splitBytes cannot be 'big': this is no whole number"),
        ({"level": "rows"}, GOLDEN, "there is no level 'rows': choose from records, batches, segments"),
        ({"pushdown": "maybe"}, GOLDEN, "option pushdown cannot be 'maybe': this is neither true nor false"),
        ({"topics": "nowhere"}, GOLDEN, "there is no topic 'nowhere' here, only __cluster_metadata, "),
        ({}, "/nowhere/at/all", "there is nothing at /nowhere/at/all"),
        ({}, Path(__file__).parent, f"{Path(__file__).parent} is no log directory of Kafka, no partition's folder, "),
        ({}, None, 'kafka-log needs a path of log directories or segments: .load("/var/kafka-logs")'),
    ],
)
def test_impossible_options_are_reported_in_a_sentence(
    spark: Any, options: dict[str, str], path: Path | None, message: str
) -> None:
    from pyspark.errors import PySparkException

    given = [] if path is None else [str(path)]
    with pytest.raises(PySparkException) as refused:
        log(spark, **options).load(*given).isEmpty()
    assert f"UsageError: {message}" in str(refused.value)
    assert "\tat org.apache" not in str(refused.value)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("ofset long", "there is no column 'ofset': choose from key, value, topic, "),
        ("offset int", "column offset is bigint, and cannot be read as int"),
        ("offset long NOT NULL", "column offset may be null, and cannot be read as NOT NULL"),
    ],
)
def test_a_schema_that_cannot_be(spark: Any, schema: str, message: str) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException) as refused:
        log(spark).schema(schema).load(str(GOLDEN)).isEmpty()
    assert f"UsageError: {message}" in str(refused.value)


def test_damage_is_reported_with_file_and_byte(spark: Any, tmp_path: Path) -> None:
    first, _ = replicas(tmp_path)
    path = first / "orders-0" / f"{0:020d}.log"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(Exception, match=f"BadFile: {path}: .*checksum.* at byte [0-9]+"):
        log(spark).load(str(first)).collect()
    rows = log(spark, onCorrupt="report").load(str(first / "orders-0")).collect()
    assert [row.offset for row in rows if row.crc_ok] == [0, 1, 2, 3, 4]


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
def test_divergence_of_two_directories(spark: Any, tmp_path: Path) -> None:
    """The result is that of the function over tables, partition by partition."""
    from kafkadouble.pipeline.logs import divergence as of_table

    paths = [str(path) for path in replicas(tmp_path)]
    found = divergence(log(spark, level="batches").load(paths)).orderBy("topic").collect()
    assert [row.asDict() for row in found] == of_table(open_log(paths, level="batches").to_table()).to_pylist()
    assert [(row.topic, row.first_difference, row.truncation_offset, row.heals) for row in found] == [
        ("orders", 5, 5, True), ("paid", None, 5, True),
    ]  # fmt: skip


def test_spark_source_has_the_schema_of_its_level(spark: Any) -> None:
    for level in LEVELS:
        frame = log(spark, level=level).load(str(GOLDEN))
        assert frame.columns == level_of(level).schema(options_of(level, {})).names
