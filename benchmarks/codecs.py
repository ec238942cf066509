"""Measures how fast messages are read and written, against other Python codecs.

    python -m benchmarks.codecs [--json] [--rounds N] [--case NAME]

The libraries take turns in every round, in one process; a cell is the median of the CPU times. A
ratio is our time divided by the peer's: below 1 means that ours is faster. kio reads in Rust.
aiokafka has only the older versions. `parts` is our codec without the final join of the buffers.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from . import report
from .codec_cases import Case, cases
from .codec_peers import PEERS, installed, ours, ours_parts

BATCH_NS = 12_000_000
"""The approximate length of one turn."""

Job = Callable[[], Any]
Cells = dict[str, dict[str, float]]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.codecs", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object: cases, ours, peers, ratios")
    parser.add_argument("--rounds", type=int, default=9, help="turns of each library (9)")
    parser.add_argument("--case", action="append", help="only cases with a name that starts so")
    options = parser.parse_args(arguments)
    chosen = [case for case in cases() if not options.case or case.name.startswith(tuple(options.case))]
    run(chosen, options.rounds).print(as_json=options.json)
    return 0


def run(chosen: Sequence[Case], rounds: int) -> report.Table:
    """Every case in both directions, and `parts`, which only our codec has."""
    names = installed()
    table = report.Table("codecs", "us of CPU time; a ratio below 1 means that ours is faster")
    for case in chosen:
        for what, cells in measure(jobs(case, list(names)), rounds).items():
            own, parts = cells.pop("ours"), cells.pop("ours parts", None)
            table.add(f"{case.name} {what}", own, cells)
            if parts is not None:
                table.add(f"{case.name} parts", parts, {})
    return table


def jobs(case: Case, names: Sequence[str]) -> dict[str, dict[str, Job]]:
    """The functions to time, by direction and library. A peer must write the bytes that it read."""
    data = case.message.encode(case.version)
    codecs = {"ours": ours(case)} | {name: found for name in names if (found := PEERS[name](case)) is not None}
    found_jobs: dict[str, dict[str, Job]] = {"decode": {}, "encode": {}}
    for name, codec in codecs.items():
        message = codec.read(data)
        if bytes(codec.write(message)) != data:
            raise ValueError(f"{name} writes other bytes than it read: {case.name}")
        found_jobs["decode"][name] = partial(codec.read, data)
        found_jobs["encode"][name] = partial(codec.write, message)
    parts = ours_parts(case)
    found_jobs["encode"]["ours parts"] = partial(parts.write, parts.read(data))
    return found_jobs


def measure(directions: dict[str, dict[str, Job]], rounds: int) -> Cells:
    """The median microseconds by direction and library; in a round all libraries take turns."""
    cells: Cells = {}
    for what, todo in directions.items():
        repeats = {name: _repeats(job) for name, job in todo.items()}
        samples: dict[str, list[float]] = {name: [] for name in todo}
        gc.collect()
        gc.freeze()
        for _ in range(rounds):
            for name, job in todo.items():
                samples[name].append(_time(job, repeats[name]) / repeats[name] / 1000)
        gc.unfreeze()
        cells[what] = {name: round(statistics.median(taken), 3) for name, taken in samples.items()}
    return cells


def _repeats(job: Job) -> int:
    job()
    once = min(_time(job, 3) / 3 for _ in range(3))
    return max(1, int(BATCH_NS / max(once, 1)))


def _time(job: Job, repeats: int) -> int:
    turns = range(repeats)
    start = time.process_time_ns()
    for _ in turns:
        job()
    return time.process_time_ns() - start


if __name__ == "__main__":
    sys.exit(main())
