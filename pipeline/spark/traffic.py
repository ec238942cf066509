"""Captured traffic in Spark: captures and logs as DataFrames, and the tables of `kafkadouble
traffic` made by the cluster.

Rules. `pipeline.traffic.tables` defines the tables, and `pipeline.traffic.marks`, which Spark runs
over Arrow, interprets the rows; this file only groups with Spark. Captures are read as Parquet,
from any storage of Spark. One task reads a log, from a path that its worker can reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from kafkadouble.pipeline.traffic.marks import NEEDED, mark, marked_schema
from kafkadouble.pipeline.traffic.problems import Problems
from kafkadouble.pipeline.traffic.reading import ReadOptions, files, read_file, zone_of
from kafkadouble.pipeline.traffic.schema import schema
from kafkadouble.pipeline.traffic.tables import (
    COUNT,
    FIRST,
    HIGHEST,
    LOWEST,
    ORDER,
    P50,
    P99,
    TABLES,
    Aggregate,
    ReportTable,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

PATHS = "path string"
PROBLEMS = pa.schema([("path", pa.string()), ("line", pa.int64()), ("what", pa.string())])


def captures(spark: SparkSession, *paths: str) -> DataFrame:
    """The captures of `capture`: files, or folders, which are read recursively."""
    reader = spark.read.schema(from_arrow_schema(schema())).option("recursiveFileLookup", True)
    return reader.option("pathGlobFilter", "*.parquet").parquet(*paths)


def logs(spark: SparkSession, *paths: str, zone: str = "UTC", bodies: bool = False) -> DataFrame:
    """Request logs of Kafka, and protocol logs of Kroxylicious, with the columns of captures.
    `zone` is the time zone of times without one. Raises UsageError for a path without files, and
    for an unknown zone; `problems` lists unreadable lines."""
    return _of_files(spark, paths, partial(_rows, ReadOptions(zone_of(zone), bodies)), schema())


def problems(spark: SparkSession, *paths: str) -> DataFrame:
    """The unreadable lines of these logs: the path, the line (0 for the whole file), and the
    reason; the first hundred of each file."""
    return _of_files(spark, paths, _problems, PROBLEMS)


def report(captured: DataFrame) -> dict[str, DataFrame]:
    """All tables by their names, of captures, logs, or a union of both."""
    rows = marked(captured)
    return {table.name: table_of(rows, table) for table in TABLES}


def marked(captured: DataFrame) -> DataFrame:
    """The rows with the columns that tables need."""
    return captured.select(*NEEDED).mapInArrow(_marked, from_arrow_schema(marked_schema()))


def table_of(rows: DataFrame, table: ReportTable) -> DataFrame:
    """One table of marked rows."""
    chosen = rows if table.where is None else rows.where(table.where)
    aggregates = [_KINDS[aggregate.kind](aggregate).alias(aggregate.name) for aggregate in table.aggregates]
    found = chosen.groupBy(*table.keys).agg(*aggregates)
    if table.behind is not None:
        name, high, low = table.behind
        found = found.withColumn(name, F.col(high) - F.col(low))
    return found.select(*table.columns).orderBy(*(F.asc_nulls_last(key) for key in table.keys))


def _first(aggregate: Aggregate) -> Column:
    """Rows without a time come last, as they do in Arrow."""
    order = [place for name in ORDER for place in (F.col(name).isNull(), F.col(name))]
    return F.min_by(aggregate.of, F.struct(*(place.alias(f"o{at}") for at, place in enumerate(order))))


_KINDS: dict[str, Callable[[Aggregate], Column]] = {
    COUNT: lambda aggregate: F.count(F.lit(1)),
    LOWEST: lambda aggregate: F.min(aggregate.of),
    HIGHEST: lambda aggregate: F.max(aggregate.of),
    P50: lambda aggregate: F.percentile(aggregate.of, 0.5),
    P99: lambda aggregate: F.percentile(aggregate.of, 0.99),
    FIRST: _first,
}


def _of_files(spark: SparkSession, paths: tuple[str, ...], read: Any, made: pa.Schema) -> DataFrame:
    found = [(path,) for given in paths for path in files(given)]
    listed = spark.createDataFrame(found, PATHS).repartition(max(1, len(found)))
    return listed.mapInArrow(read, from_arrow_schema(made))


def _marked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return map(mark, batches)


def _rows(how: ReadOptions, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for path in _paths(batches):
        yield from read_file(path, Problems(), how)


def _problems(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for path in _paths(batches):
        problems = Problems()
        for _ in read_file(path, problems):
            pass
        columns = zip(*problems.named, strict=True) if problems.named else ([], [], [])
        arrays = [pa.array(column, field.type) for column, field in zip(columns, PROBLEMS, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=PROBLEMS)


def _paths(batches: Iterator[pa.RecordBatch]) -> Iterator[str]:
    return (path for batch in batches for path in batch.column("path").to_pylist())
