"""Divides a sink's rows into record columns and destinations. `shape` defines the columns."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from kafkadouble.wire.errors import UsageError


def records(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The columns of Spark's rows that become records."""
    return rows.select([name for name in ("key", "value", "timestamp", "headers") if name in rows.schema.names])


def keys(rows: pa.RecordBatch, *, ignored: bool = False) -> pa.Array:
    """The keys as bytes; all null without such a column, or when keys are ignored."""
    if ignored or "key" not in rows.schema.names:
        return pa.nulls(rows.num_rows, pa.binary())
    return rows.column("key").cast(pa.binary())


def partitions(rows: pa.RecordBatch) -> pa.Array | None:
    """The partitions in the rows."""
    return rows.column("partition") if "partition" in rows.schema.names else None


def topics(rows: pa.RecordBatch, topic: str | None) -> dict[str, pa.RecordBatch]:
    """The rows by topic. Raises UsageError for a row without one."""
    if topic is not None:
        return {topic: rows}
    column = rows.column(rows.schema.names.index("topic"))
    if column.null_count:
        raise UsageError("a row has null for its topic; the option topic would name one for all")
    names = pc.unique(column).to_pylist()
    return {name: rows if len(names) == 1 else rows.filter(pc.equal(column, name)) for name in names}
