"""`divergence`: where replicas differ and where KIP-101 would truncate them, from a table with the
batches of all replicas."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from kafkadouble.pipeline.logs.diverging import NEEDED, SCHEMA
from kafkadouble.pipeline.logs.diverging import divergence as of_table
from kafkadouble.wire.errors import UsageError


def divergence(batches: Any) -> Any:
    """A DataFrame with a row for each replica but the leader
    (`kafkadouble.pipeline.logs.diverging.SCHEMA`), from one of `level=batches` over the log
    directories of several brokers. One task handles each partition. Raises UsageError when a column
    is missing."""
    from pyspark.sql.pandas.types import from_arrow_schema

    missing = [name for name in NEEDED if name not in batches.columns]
    if missing:
        raise UsageError(
            f"divergence is found in batches with the columns {', '.join(NEEDED)}: {missing[0]} is missing"
        )
    grouped = batches.select(*NEEDED).groupBy("topic", "partition")
    return grouped.applyInArrow(_of_partition, from_arrow_schema(SCHEMA))


def _of_partition(batches: pa.Table) -> pa.Table:
    return of_table(batches)
