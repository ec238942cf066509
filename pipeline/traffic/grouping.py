"""Makes the tables of a report with Arrow, in this process."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .marks import mark, marked_schema
from .tables import COUNT, FIRST, HIGHEST, LOWEST, ORDER, P50, P99, Aggregate, ReportTable

if TYPE_CHECKING:
    import pyarrow as pa

QUANTILES = {P50: 0.5, P99: 0.99}


def marked(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """The rows of captured traffic with the columns that tables need, ordered by time."""
    import pyarrow as pa

    rows = pa.Table.from_batches(map(mark, batches), schema=marked_schema())
    return rows.sort_by([(name, "ascending") for name in ORDER])


def table_of(rows: pa.Table, table: ReportTable) -> pa.Table:
    """One table of these rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    chosen = rows if table.where is None else rows.filter(pc.field(table.where))
    # with threads the order would be undefined
    grouped = chosen.group_by(list(table.keys), use_threads=False)
    found = grouped.aggregate([_pyarrow_aggregate(aggregate) for aggregate in table.aggregates])
    columns = {name: found.column(name) for name in table.keys}
    for at, aggregate in enumerate(table.aggregates, len(table.keys)):
        columns[aggregate.name] = _finished(found.column(at), aggregate)
    if table.behind is not None:
        name, high, low = table.behind
        columns[name] = pc.subtract(columns[high], columns[low])
    return pa.table(columns).sort_by([(key, "ascending") for key in table.keys])


def _pyarrow_aggregate(aggregate: Aggregate) -> tuple[Any, ...]:
    import pyarrow.compute as pc

    kept = pc.ScalarAggregateOptions(skip_nulls=False)
    return {
        COUNT: ([], "count_all"),
        LOWEST: (aggregate.of, "min"),
        HIGHEST: (aggregate.of, "max"),
        P50: (aggregate.of, "list"),
        P99: (aggregate.of, "list"),
        FIRST: (aggregate.of, "first", kept),
    }[aggregate.kind]


def _finished(column: pa.ChunkedArray, aggregate: Aggregate) -> Any:
    """A percentile of each group's values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    quantile = QUANTILES.get(aggregate.kind)
    if quantile is None:
        return column
    return pa.array((pc.quantile(each.values, quantile)[0].as_py() for each in column), pa.float64())
