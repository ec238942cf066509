"""The tables of a report, as data: their keys, and the aggregates of each group. `grouping.py`
makes them with Arrow, and `pipeline.spark.traffic` from a DataFrame, from the same rows of
`marks.mark`.

Rules. An aggregate is one of COUNT, LOWEST, HIGHEST, P50, P99 and FIRST; percentiles are
interpolated; FIRST is the value of the first row, by ORDER. The rows of a table are sorted by its
keys.
"""

from __future__ import annotations

from typing import NamedTuple

COUNT, LOWEST, HIGHEST, P50, P99, FIRST = "count", "lowest", "highest", "p50", "p99", "first"

ORDER = ("time", "connection", "correlation_id")


class Aggregate(NamedTuple):
    """A column of a table: its aggregate function, and the column that it aggregates."""

    name: str
    kind: str
    of: str = ""


class ReportTable(NamedTuple):
    """`where` is a column that is true for the rows of the table; `behind` is a column of the table
    that is the difference of two others."""

    name: str
    title: str
    keys: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]
    where: str | None = None
    behind: tuple[str, str, str] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns, in order."""
        last = () if self.behind is None else (self.behind[0],)
        return (*self.keys, *(aggregate.name for aggregate in self.aggregates), *last)


_CLIENT = ("client_software", "client_version")
_REQUESTS = Aggregate("requests", COUNT)

MATRIX = ReportTable(
    "matrix",
    "Which client used what, with which errors, and how long it took (us)",
    (*_CLIENT, "api", "version", "error"),
    (_REQUESTS, Aggregate("p50_us", P50, "latency_us"), Aggregate("p99_us", P99, "latency_us")),
)

VERSIONS = ReportTable(
    "versions",
    "Versions used, and the highest that the server offered",
    (*_CLIENT, "api"),
    (
        _REQUESTS,
        Aggregate("lowest_used", LOWEST, "version"),
        Aggregate("highest_used", HIGHEST, "version"),
        Aggregate("highest_offered", HIGHEST, "highest"),
    ),
    behind=("behind", "highest_offered", "highest_used"),
)

REMOVED = ReportTable(
    "removed",
    "Versions used that Kafka 4.0 removed (KIP-896)",
    (*_CLIENT, "api", "version"),
    (
        _REQUESTS,
        Aggregate("kept_from", LOWEST, "kept_from"),
        Aggregate("client_id", FIRST, "client_id"),
        Aggregate("address", FIRST, "address"),
    ),
    where="removed",
)

FAILURES = ReportTable(
    "failures",
    "The first request of each run that failed",
    ("run",),
    (
        Aggregate("failures", COUNT),
        *(
            Aggregate(name, FIRST, name)
            for name in ("time", "node", "client_id", *_CLIENT, "address", "api", "version", "correlation_id", "error")
        ),
    ),
    where="failed",
)

TABLES = (MATRIX, VERSIONS, REMOVED, FAILURES)
