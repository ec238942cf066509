"""Adds columns to captured traffic for reports: it defines error, failure and removed version, for
Arrow tables and for Spark.

Rules. A pure function of a batch, which uses no other rows.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes

from .removed import kept_from

if TYPE_CHECKING:
    import pyarrow as pa

TAKEN = (
    "run",
    "time",
    "node",
    "connection",
    "client_id",
    "client_software",
    "client_version",
    "address",
    "api",
    "version",
    "correlation_id",
    "latency_us",
    "highest",
)
"""The columns that are copied."""

NEEDED = (*TAKEN, "api_key", "errors", "outcome")
"""The columns that are used."""

DISCONNECTED = "disconnected"
ERRONEOUS = (DISCONNECTED, "abandoned")
"""Outcomes that are shown in the column of errors."""

EXPECTED = frozenset(
    {
        ("JoinGroup", "MEMBER_ID_REQUIRED"),
        ("JoinGroup", "REBALANCE_IN_PROGRESS"),
        ("SyncGroup", "REBALANCE_IN_PROGRESS"),
        ("Heartbeat", "REBALANCE_IN_PROGRESS"),
        ("ApiVersions", "UNSUPPORTED_VERSION"),
    }
)
"""Errors that belong to the normal course of the protocol, and are no failures."""


@cache
def marked_schema() -> pa.Schema:
    """The schema: the copied columns; `error`, the names of the errors or such an outcome, empty
    for none; whether that is a failure; whether Kafka 4.0 removed the version, and the lowest
    version that it kept."""
    import pyarrow as pa

    from .schema import schema

    more = [("error", pa.string()), ("failed", pa.bool_()), ("removed", pa.bool_()), ("kept_from", pa.int16())]
    return pa.schema([*(schema().field(name) for name in TAKEN), *(pa.field(*each) for each in more)])


def mark(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with these columns."""
    import pyarrow as pa
    import pyarrow.compute as pc

    # The names of each row's errors, or its outcome if that is an error.
    codes, outcomes = batch.column("errors").to_pylist(), batch.column("outcome").to_pylist()
    errors = [
        ", ".join(map(error_codes.name, found)) if found else outcome if outcome in ERRONEOUS else ""
        for found, outcome in zip(codes, outcomes, strict=True)
    ]
    pairs = zip(batch.column("api").to_pylist(), errors, strict=True)
    failed = [error not in ("", "abandoned") and (api, error) not in EXPECTED for api, error in pairs]
    lowest = pa.array(map(kept_from().get, batch.column("api_key").to_pylist()), pa.int16(), size=batch.num_rows)
    removed = pc.fill_null(pc.less(batch.column("version"), lowest), False)
    # Spark uses its own time zone
    taken = [batch.column(name).cast(marked_schema().field(name).type) for name in TAKEN]
    return pa.RecordBatch.from_arrays(
        [*taken, pa.array(errors, pa.string()), pa.array(failed, pa.bool_()), removed, lowest], schema=marked_schema()
    )
