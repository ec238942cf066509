"""`kafkadouble check`: checks Kafka's files on disk.

Exit codes: 0; 1 when a file is corrupt or a segment was not written to its end; 2 for a wrong call.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from kafkadouble.wire.errors import UsageError

from ..dump.checking import check
from ..dump.item import broken_json, printable
from ..dump.verdict import Rules, Verdict

_EPILOG = """\
Of a segment the batches with their checksums, records and offsets are checked, and that its indexes and the leader epochs agree with them; of a
partition that its segments follow one another, and its snapshots; of a log directory its checkpoints, too. Told is the first thing that is
wrong. A last segment that ends inside a batch is called a torn tail: an unclean stop leaves it behind, and Kafka cuts it off.
"""


def main(words: list[str]) -> int:
    """Checks the given paths, one after the other."""
    parser = argparse.ArgumentParser(
        "kafkadouble check", description="Say whether Kafka's files on disk are good.", epilog=_EPILOG
    )
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="a file, a partition's folder, or a log directory"
    )
    parser.add_argument("--live", action="store_true", help="a node is at work on the files: they may end anywhere")
    parser.add_argument("--gaps", action="store_true", help="offsets may be missing, as in topics that are compacted")
    parser.add_argument("--json", action="store_true", help="a JSON object for each path, one in a line")
    options = parser.parse_args(words)
    good = True
    try:
        for path in options.paths:
            verdict = check(path, Rules(options.live, options.gaps))
            print(_json(path, verdict) if options.json else printable(_text(path, verdict)))
            good = good and verdict.first is None
    except UsageError as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(f"{error.filename}: {error.strerror or error}")
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
