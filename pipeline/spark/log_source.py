"""`kafka-log`: Kafka's log directories, segments and snapshots as tables, without a broker.

    spark.read.format("kafka-log").option("topics", "orders").load("/var/kafka-logs")

Everything is `kafkadouble.pipeline.logs`; here Spark's words are turned into its. Spark tells a Python source nothing of the columns that a
query needs, but a schema given by the user does: only its columns are made.
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
"""Bytes that are worth a task of their own."""


class KafkaLog(DataSource):
    """`spark.read.format("kafka-log").load(path)`."""

    @classmethod
    def name(cls) -> str:
        return "kafka-log"

    def schema(self) -> StructType:
        asked = SourceOptions(self.options)
        return from_arrow_schema(asked.level.schema(asked.options))

    def reader(self, schema: StructType) -> LogReader:
        asked = SourceOptions(self.options)
        names = columns_of(schema, asked.level.schema(asked.options))
        return (FilteringReader if asked.pushdown else LogReader)(asked.paths, asked.options, names)


class SourceOptions:
    """What the options say. UsageError for whatever they cannot."""

    def __init__(self, options: Mapping[str, str]) -> None:
        given = {name.lower(): value for name, value in options.items()}
        level = given.pop(_LEVEL, "records")
        self.paths = _paths(given.pop(_PATH, None), given.pop(_PATHS, None))
        self.pushdown = _pushdown(given.pop(_PUSHDOWN, "false"))
        self.level: TableLevel = level_of(level)
        self.options: LogOptions = options_of(level, given)


def _paths(one: str | None, several: str | None) -> list[str]:
    """Absolute, since workers may run elsewhere."""
    found = json.loads(several) if several is not None else [one] if one is not None else []
    if not found:
        raise UsageError('kafka-log reads what lies at a path, and was given none: .load("/var/kafka-logs")')
    return [os.path.abspath(path.removeprefix("file://").removeprefix("file:")) for path in found]


def _pushdown(given: str) -> bool:
    try:
        return flag(given)
    except ValueError as reason:
        raise UsageError(f"option {_PUSHDOWN} cannot be {given!r}: {reason}") from None


def columns_of(schema: StructType, possible: pa.Schema) -> list[str]:
    """The names in a schema, if the level has such columns. UsageError for one that it has not, or has of another type."""
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
    """Plans in the driver, reads in workers: plain values only."""

    def __init__(self, paths: Sequence[str], options: LogOptions, names: Sequence[str]) -> None:
        self.paths, self.options, self.names = list(paths), options, list(names)

    def partitions(self) -> list[InputPartition]:
        pieces = level_of(self.options.level).plan(self.paths, self.options)
        return [InputPartition(several) for several in grouped(pieces, min(_TASK, self.options.split_bytes))]

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """Spark makes one partition without a value of no partition at all."""
        if partition is None or partition.value is None:
            return
        read = level_of(self.options.level).read
        for piece in partition.value:
            yield from read(piece, self.names, self.options)


def grouped(pieces: Sequence[Planned], least: int) -> Iterator[list[Planned]]:
    """Neighbours together until they have so many bytes: a task costs more than to read a small file."""
    waiting: list[Planned] = []
    for piece in pieces:
        waiting.append(piece)
        if sum(each.size for each in waiting) >= least:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


class FilteringReader(LogReader):
    """The same with `pushdown=true`, for which Spark must be told `spark.sql.python.filterPushdown.enabled=true`: it refuses a reader with
    `pushFilters` else."""

    def pushFilters(self, filters: list[Any]) -> list[Any]:
        """Every filter stays Spark's to apply; what it leaves out for certain is not read."""
        self.options = self.options._replace(narrowing=narrowed(self.options.level, filters))
        return filters
