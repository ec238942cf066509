"""`kafkadouble check`: checks Kafka's files on disk.

Exit codes: 0; 1 when a file is corrupt or a segment was not written to its end; 2 for a wrong call.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from kafkadouble.dump.checks.verdict import Rules, Verdict
from kafkadouble.dump.contents.item import broken_json
from kafkadouble.wire.client_log import printable
from kafkadouble.wire.errors import UsageError

from ..dump.checking import check
from .parts.file_errors import FileErrors

_EPILOG = """\
In a segment, `check` verifies the checksums, records and offsets of the batches, and that the indexes and leader epochs agree with them; in a
partition, also that the segments follow one another, and the snapshots; in a log directory, also the checkpoints. It prints the first error.
A last segment that ends inside a batch is a torn tail, not corrupt: an unclean shutdown leaves it, and Kafka truncates it. Exit codes:
0 valid, 1 corrupt or a torn tail, 2 a wrong call.
"""


def main(words: list[str]) -> int:
    """Checks the given paths, one after the other."""
    parser = argparse.ArgumentParser(
        "kafkadouble check", description="Check whether Kafka's files on disk are valid.", epilog=_EPILOG
    )
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="a file, a partition's folder, or a log directory"
    )
    parser.add_argument("--live", action="store_true", help="for files of a running node: they may end anywhere")
    parser.add_argument("--gaps", action="store_true", help="allow gaps between offsets, as in compacted topics")
    parser.add_argument("--json", action="store_true", help="print a JSON object for each path, one per line")
    options = parser.parse_args(words)
    good = True
    try:
        with FileErrors():
            for path in options.paths:
                verdict = check(path, Rules(options.live, options.gaps))
                print(_json(path, verdict) if options.json else printable(_text(path, verdict)))
                good = good and verdict.first is None
    except UsageError as error:
        parser.error(str(error))
    return 0 if good else 1


def _text(path: Path, verdict: Verdict) -> str:
    if verdict.first is None:
        return f"{path}: good: {_counted(verdict.counts)}"
    if verdict.corrupt is not None:
        return f"corrupt: {verdict.corrupt}"
    more = f" (and {len(verdict.torn) - 1} more)" if len(verdict.torn) > 1 else ""
    return f"torn tail: {verdict.torn[0]}: an unclean stop, not a corruption{more}"


def _counted(counts: dict[str, int]) -> str:
    return (
        ", ".join(f"{count} {what if count != 1 else _ONE[what]}" for what, count in counts.items() if count) or "read"
    )


_ONE = {
    "partitions": "partition",
    "segments": "segment",
    "batches": "batch",
    "records": "record",
    "snapshots": "snapshot",
    "checkpoints": "checkpoint",
}


def _json(path: Path, verdict: Verdict) -> str:
    made = {"path": str(path), "verdict": verdict.word, "counts": verdict.counts}
    if verdict.first is not None:
        made |= {"file": verdict.first.file, **broken_json(verdict.first)}
    return json.dumps(made)
