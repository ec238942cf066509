"""`kafka-log`: Kafka's log directories, segments and snapshots as tables, without a broker.

    spark.read.format("kafka-log").option("topics", "orders").load("/var/kafka-logs")

`kafkadouble.pipeline.logs` does the work; this file adapts it to Spark's interface. Spark does not
pass the columns of a query to a Python source. If the user gives a schema, only the columns of this
schema are read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from kafkadouble.pipeline.logs.levels import Planned, TableLevel, level_of, options_of
from kafkadouble.pipeline.logs.options import LogOptions, flag
from kafkadouble.wire.errors import UsageError

from .log_filters import narrowed

_LEVEL, _PATH, _PATHS, _PUSHDOWN = "level", "path", "paths", "pushdown"
_TASK = 4 << 20
"""The smallest size in bytes of the pieces of one task."""


class KafkaLog(DataSource):
    """`spark.read.format("kafka-log").load(path)`."""

    @classmethod
    def name(cls) -> str:
        return "kafka-log"

    def schema(self) -> StructType:
        options = SourceOptions(self.options)
        return from_arrow_schema(options.level.schema(options.options))

    def reader(self, schema: StructType) -> LogReader:
        options = SourceOptions(self.options)
        names = columns_of(schema, options.level.schema(options.options))
        return (FilteringReader if options.pushdown else LogReader)(options.paths, options.options, names)


class SourceOptions:
    """The parsed options. Raises UsageError for invalid ones."""

    def __init__(self, options: Mapping[str, str]) -> None:
        given = {name.lower(): value for name, value in options.items()}
        level = given.pop(_LEVEL, "records")
        self.paths = _paths(given.pop(_PATH, None), given.pop(_PATHS, None))
        self.pushdown = _pushdown(given.pop(_PUSHDOWN, "false"))
        self.level: TableLevel = level_of(level)
        self.options: LogOptions = options_of(level, given)


def _paths(one: str | None, several: str | None) -> list[str]:
    """The paths made absolute, because workers may run in another directory."""
    paths = json.loads(several) if several is not None else [one] if one is not None else []
    if not paths:
        raise UsageError('kafka-log needs a path of log directories or segments: .load("/var/kafka-logs")')
    return [os.path.abspath(path.removeprefix("file://").removeprefix("file:")) for path in paths]


def _pushdown(given: str) -> bool:
    try:
        return flag(given)
    except ValueError as reason:
        raise UsageError(f"option {_PUSHDOWN} cannot be {given!r}: {reason}") from None


def columns_of(schema: StructType, possible: pa.Schema) -> list[str]:
    """The names in a schema. Raises UsageError for a column that the level does not have, or has
    with another type."""
    types = {field.name: field.dataType.simpleString() for field in from_arrow_schema(possible).fields}
    for field in schema.fields:
        if field.name not in types:
            raise UsageError(f"there is no column {field.name!r}: choose from {', '.join(types)}")
        if field.dataType.simpleString() != types[field.name]:
            raise UsageError(
                f"column {field.name} is {types[field.name]}, and cannot be read as {field.dataType.simpleString()}"
            )
        if not field.nullable:
            raise UsageError(f"column {field.name} may be null, and cannot be read as NOT NULL")
    return [field.name for field in schema.fields]


class LogReader(DataSourceReader):
    """Plans in the driver and reads in the workers. Its attributes are plain values, because Spark
    pickles the reader."""

    def __init__(self, paths: Sequence[str], options: LogOptions, names: Sequence[str]) -> None:
        self.paths, self.options, self.names = list(paths), options, list(names)

    def partitions(self) -> list[InputPartition]:
        pieces = level_of(self.options.level).plan(self.paths, self.options)
        return [InputPartition(several) for several in grouped(pieces, min(_TASK, self.options.split_bytes))]

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """The record batches of a task. Spark passes a partition without a value if there are no
        partitions."""
        if partition is None or partition.value is None:
            return
        read = level_of(self.options.level).read
        for piece in partition.value:
            yield from read(piece, self.names, self.options)


def grouped(pieces: Sequence[Planned], least: int) -> Iterator[list[Planned]]:
    """Joins neighbouring pieces until a group has `least` bytes: a task costs more than reading a
    small file."""
    waiting: list[Planned] = []
    for piece in pieces:
        waiting.append(piece)
        if sum(planned.size for planned in waiting) >= least:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


class FilteringReader(LogReader):
    """The reader for `pushdown=true`. It needs `spark.sql.python.filterPushdown.enabled=true`:
    without it, Spark refuses a reader with `pushFilters`."""

    def pushFilters(self, filters: list[Any]) -> list[Any]:
        """Skips rows that a filter certainly excludes. Returns all filters, so Spark applies every
        filter again."""
        self.options = self.options._replace(narrowing=narrowed(self.options.level, filters))
        return filters
