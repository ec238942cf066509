"""`kafkadouble traffic`: reports which clients used which APIs and versions of a Kafka server, with
which errors and latencies.

Exit codes: 0; 1 when nothing could be read; 2 for a wrong call. Problems while reading are printed
on stderr.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from kafkadouble.common.on_first_use import OnFirstUse
from kafkadouble.common.text_table import table
from kafkadouble.pipeline.traffic.problems import Problems
from kafkadouble.pipeline.traffic.tables import TABLES, ReportTable
from kafkadouble.wire.client_log import printable
from kafkadouble.wire.errors import UsageError

from .parts.printing import print_line

if TYPE_CHECKING:
    import pyarrow as pa

    from kafkadouble.pipeline.traffic import grouping, reading
else:  # a start waits for none of them
    grouping = OnFirstUse("kafkadouble.pipeline.traffic.grouping")
    reading = OnFirstUse("kafkadouble.pipeline.traffic.reading")

MISSING = "kafkadouble traffic needs pyarrow, which is not installed: pip install 'kafkadouble[columns]'"
SHOWN = 10
"""The number of problems that are printed; the others are counted."""

UNKNOWN = "unknown"
"""Kafka's text for a client whose software is not known."""

_EPILOG = """\
examples:
  kafkadouble traffic traffic.parquet
  kafkadouble traffic --zone Europe/Berlin /var/log/kafka/kafka-request.log*
  kafkadouble traffic --csv matrix captures/ > matrix.csv

It reads captures of `kafkadouble serve --capture`, request logs of Apache Kafka (the logger
kafka.request.logger at DEBUG), and logs of Kroxylicious' ProtocolLogger. In a folder it reads every file
that it recognises as one of these. The versions that Kafka 4.0 removed are those of KIP-896. Exit codes:
0, 1 nothing to report, 2 a wrong call.
"""


def main(words: list[str]) -> int:
    """Reports on the given captures."""
    parser = _parser()
    options = parser.parse_args(words)
    try:
        # Checks that pyarrow is installed.
        import pyarrow.parquet  # noqa: F401  # an extra
    except ImportError:
        parser.error(MISSING)
    try:
        return _report(options)
    except UsageError as error:
        parser.error(str(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "kafkadouble traffic",
        description="Report on captured traffic: which client software used which versions of which APIs, errors,\n"
        "latencies, versions that could have been used, versions that Kafka 4.0 removed, and the first failed\nrequests.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a capture, a log, or a folder of them")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print all tables as one JSON document")
    form.add_argument("--csv", choices=[table.name for table in TABLES], help="print one of the tables as CSV")
    parser.add_argument("--zone", default="UTC", help="the time zone of logs whose times have none (default: UTC)")
    return parser


def _report(options: argparse.Namespace) -> int:
    problems = Problems()
    rows = grouping.marked(reading.read(options.paths, problems, reading.ReadOptions(reading.zone_of(options.zone))))
    for problem in problems.named[:SHOWN]:
        print(printable(f"kafkadouble traffic: {problem}"), file=sys.stderr)
    if problems.count > SHOWN:
        print(f"kafkadouble traffic: and {problems.count - SHOWN} more", file=sys.stderr)
    if options.csv:
        (chosen,) = (each for each in TABLES if each.name == options.csv)
        _print_csv(chosen, grouping.table_of(rows, chosen))
    elif options.json:
        _print_json(rows, problems, {each.name: grouping.table_of(rows, each).to_pylist() for each in TABLES})
    else:
        print_line(_counted(rows))
        print_line("")
        for each in TABLES:
            _print_table(each, grouping.table_of(rows, each))
    return 0 if rows.num_rows else 1


def _counted(rows: pa.Table) -> str:
    import pyarrow.compute as pc  # an extra

    runs = len(pc.unique(rows["run"]))
    first, last = pc.min_max(rows["time"]).as_py().values()
    when = "" if first is None else f", from {_text(first)} to {_text(last)}"
    return f"{rows.num_rows} requests in {runs} {'run' if runs == 1 else 'runs'}{when}"


def _print_table(given: ReportTable, found: pa.Table) -> None:
    heads = [name.replace("_", " ").upper() for name in given.columns]
    rows = ([_cell(name, row[name]) for name in given.columns] for row in found.to_pylist())
    for line in table(given.title, heads, rows):
        print_line(line)


def _cell(name: str, value: Any) -> str:
    if value is None:
        return UNKNOWN if name.startswith("client_") else "-"
    return _text(value) or "-"


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S.%f") + "Z"
    return str(round(value)) if isinstance(value, float) else str(value)


def _print_csv(given: ReportTable, table: pa.Table) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(given.columns)
    for row in table.to_pylist():
        writer.writerow([_plain(row[name]) for name in given.columns])


def _print_json(rows: pa.Table, problems: Problems, tables: dict[str, Sequence[dict[str, Any]]]) -> None:
    made = {
        "requests": rows.num_rows,
        "problems": {"count": problems.count, "first": [str(problem) for problem in problems.named]},
        **{
            name: [{key: _plain(value) for key, value in row.items()} for row in table]
            for name, table in tables.items()
        },
    }
    print(json.dumps(made, indent=2))


def _plain(value: Any) -> Any:
    """The value in JSON and CSV: times in ISO 8601, durations in whole microseconds."""
    if isinstance(value, datetime):
        return value.isoformat()
    return round(value) if isinstance(value, float) else value
