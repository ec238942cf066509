"""The columns of a source and of a sink."""

from __future__ import annotations

import pyarrow as pa
import pytest

from kafkadouble.pipeline.wire import options, shape, sinking
from kafkadouble.pipeline.wire.shape import HEADERS, TYPES, RequestedColumn
from kafkadouble.wire import columns
from kafkadouble.wire.errors import UsageError

ROWS = pa.RecordBatch.from_pydict({"value": ["x", "y", "z"], "topic": ["a", "b", "a"]})


def test_the_columns_are_those_of_sparks_connector() -> None:
    given = {"kafka.bootstrap.servers": "h:1", "subscribe": "t"}
    plain = (
        "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, timestampType int"
    )
    assert shape.schema(options.read(given, options.SOURCE)) == plain
    more = {"includeHeaders": "true", "includeLeaderEpoch": "true"}
    assert shape.schema(options.read(given | more, options.SOURCE)) == f"{plain}, headers {HEADERS}, leader_epoch int"


def test_every_column_is_one_that_the_decoder_makes() -> None:
    assert set(TYPES) <= set(columns.NAMES)


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (RequestedColumn("ofset", "bigint"), "kafka-wire has no column ofset; it has key, value"),
        (RequestedColumn("offset", "int"), "the column offset is of type bigint, not int"),
        (RequestedColumn("offset", "bigint", nullable=False), "the column offset cannot be NOT NULL"),
    ],
)
def test_other_columns_are_refused(field: RequestedColumn, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        shape.check([field])


@pytest.mark.parametrize(
    ("types", "topic", "words"),
    [
        ({"value": "string"}, None, "the option topic must be given when the rows have no column topic"),
        ({"key": "string"}, "t", "the rows have no column value"),
        ({"value": "int"}, "t", "the column value is of type int; it must be string or binary"),
        ({"value": "string", "key": "bigint"}, "t", "the column key is of type bigint"),
        ({"value": "string", "topic": "int"}, None, "the column topic is of type int; it must be string"),
        ({"value": "string", "partition": "bigint"}, "t", "the column partition is of type bigint; it must be int"),
        ({"value": "string", "headers": "map<string,binary>"}, "t", "the column headers is of type map<string,binary>"),
    ],
)
def test_a_sink_names_the_wrong_column(types: dict[str, str], topic: str | None, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        shape.check_sink(types, topic)


def test_a_sink_leaves_other_columns_alone() -> None:
    shape.check_sink(
        {"value": "binary", "key": "string", "headers": HEADERS, "comment": "date", "partition": "int"}, "t"
    )
    shape.check_sink({"value": "binary", "topic": "int"}, "t")


def test_rows_go_to_their_topics() -> None:
    topics = sinking.topics(ROWS, None)
    assert {topic: rows.column("value").to_pylist() for topic, rows in topics.items()} == {"a": ["x", "z"], "b": ["y"]}
    assert sinking.topics(ROWS, "c") == {"c": ROWS}


def test_a_row_without_a_topic_is_refused() -> None:
    rows = pa.RecordBatch.from_pydict({"value": ["x"], "topic": pa.array([None], pa.string())})
    with pytest.raises(UsageError, match="a row has null for its topic"):
        sinking.topics(rows, None)
