"""`kafkadouble dump`: shows Kafka's files on disk, in the format of kafka-dump-log, as lines of
JSON, or as a Parquet file.

Exit codes: 0; 1 when something is corrupt (the first place is also printed on stderr); 2 for a
wrong call.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kafkadouble.dump.contents.item import broken_text
from kafkadouble.messages import show
from kafkadouble.pipeline.logs.levels import LEVELS
from kafkadouble.server.log.formats import BadFile
from kafkadouble.wire.client_log import printable
from kafkadouble.wire.errors import UsageError

from ..dump import Options, items
from ..dump.dumping import files
from .parts.file_errors import FileErrors
from .parts.printing import print_line

_EPILOG = """\
examples:
  kafkadouble dump __cluster_metadata-0/00000000000000000000.log
  kafkadouble dump --records __consumer_offsets-0
  kafkadouble dump --json data/replication-offset-checkpoint
  kafkadouble dump --parquet records.parquet data

It shows .log, .checkpoint, .index, .timeindex, .txnindex and .snapshot files, leader-epoch-checkpoint,
the offset checkpoints, partition.metadata, quorum-state, meta.properties and .kafka_cleanshutdown.
Given a folder, it shows all of these in the folder and in the folders inside. It needs no node, and
changes no file that it reads. Exit codes: 0, 1 something is corrupt, 2 a wrong call.
"""


def main(words: list[str]) -> int:
    """Shows the given files."""
    parser = _parser()
    options = parser.parse_args(words)
    try:
        with FileErrors():
            return _dump(options) if options.parquet is None else _parquet(options)
    except UsageError as error:
        parser.error(str(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "kafkadouble dump",
        description="Show the contents of Kafka's files on disk.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a file, or a folder")
    parser.add_argument("--records", action="store_true", help="show the records of each batch: keys, values, headers")
    parser.add_argument(
        "--decode",
        choices=show.KINDS,
        help="show the records, and decode keys and values as this kind; control records always are (default: by the name of the folder)",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON object for each item, one per line")
    parser.add_argument(
        "--parquet",
        type=Path,
        metavar="FILE",
        help="write a table of all logs that are found to this file; the columns are those of kafkadouble.open_log",
    )
    parser.add_argument("--level", choices=LEVELS, help="with --parquet: what a row of the table is (default: records)")
    parser.add_argument("--full", action="store_true", help="show long keys and values in full")
    return parser


def _dump(options: argparse.Namespace) -> int:
    if options.level is not None:
        raise UsageError("--level is what a row of --parquet is")
    bounds = show.FULL if options.full else show.TREE
    item_options = Options(options.records or options.decode is not None, options.decode, bounds)
    first = ""
    for path in [found for given in options.paths for found in files(given)]:
        if not options.json:
            print_line(f"Dumping {path}")
        for item in items(path, item_options):
            for line in [item.json(str(path))] if options.json else item.lines(bounds):
                print_line(line)
            if item.problem is not None:
                first = first or f"{path}: {broken_text(item.problem)}"
    if first:
        sys.stdout.flush()
        print(printable(f"kafkadouble dump: broken: {first}"), file=sys.stderr)
    return 1 if first else 0


def _parquet(options: argparse.Namespace) -> int:
    from ..dump.parquet import opened, write  # needs an extra
    from .parts.progress import Progress  # for a terminal alone

    if options.records or options.decode or options.json or options.full:
        raise UsageError("--parquet writes a table: --records, --decode, --json and --full are about text")
    try:
        log = opened(options.paths, options.level or "records")
        with Progress(sum(piece.size for piece in log.pieces)) as progress:
            broken = write(log, options.parquet, progress.add)
    except BadFile as problem:
        print(printable(f"kafkadouble dump: broken: {problem}"), file=sys.stderr)
        return 1
    if broken:
        summary = f"kafkadouble dump: broken: {broken} rows of {options.parquet} describe what cannot be read"
        print(printable(summary), file=sys.stderr)
    return 1 if broken else 0
