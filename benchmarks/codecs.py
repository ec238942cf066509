"""How fast messages are read and written, next to other Python codecs: `python -m benchmarks.codecs [--json] [--rounds N] [--case NAME]`.

All libraries take turns in every round, in one process, on CPU time; a cell is the median of its rounds. Ratios are the peer's time over ours:
above 1 means that ours is faster. kio reads in Rust. aiokafka has the older versions only. `parts` is ours again, without the final join.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .codec_cases import Case, cases
from .codec_peers import PEERS, installed, ours, ours_parts

BATCH_NS = 12_000_000
"""How long one turn lasts, about."""

Job = Callable[[], Any]
Table = dict[str, dict[str, float]]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.codecs", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object: cases, ours, peers, ratios")
    parser.add_argument("--rounds", type=int, default=9, help="turns of each library (9)")
    parser.add_argument("--case", action="append", help="only cases whose name starts so")
    options = parser.parse_args(arguments)
    chosen = [case for case in cases() if not options.case or case.name.startswith(tuple(options.case))]
    result = run(chosen, options.rounds)
    print(json.dumps(result) if options.json else "\n".join(table(result)))
    return 0


def run(chosen: Sequence[Case], rounds: int) -> dict[str, Any]:
    """All cells: microseconds by library, case and direction, and the ratios."""
    names = installed()
    times = {case.name: measure(jobs(case, list(names)), rounds) for case in chosen}
    ratios = {name: _ratios(name, times) for name in names}
    return {
        "cases": {case.name: len(case.message.encode(case.version)) for case in chosen},
        "ours": {case: {what: cells[what]["ours"] for what in cells} for case, cells in times.items()},
        "parts": {case: cells["encode"]["ours parts"] for case, cells in times.items()},
        "peers": {name: {"version": names[name], "times": _times(name, times)} for name in names},
        "ratios": ratios,
        "rounds": rounds,
        "python": sys.version.split()[0],
    }


def jobs(case: Case, names: Sequence[str]) -> dict[str, dict[str, Job]]:
    """What is to be timed: direction and library to a function. A peer that writes other bytes than it read is an error."""
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


def measure(directions: dict[str, dict[str, Job]], rounds: int) -> Table:
    """Microseconds by direction and library: medians over rounds in which all libraries take turns."""
    found: Table = {}
    for what, todo in directions.items():
        repeats = {name: _repeats(job) for name, job in todo.items()}
        samples: dict[str, list[float]] = {name: [] for name in todo}
        gc.collect()
        gc.freeze()
        for _ in range(rounds):
            for name, job in todo.items():
                samples[name].append(_time(job, repeats[name]) / repeats[name] / 1000)
        gc.unfreeze()
        found[what] = {name: round(statistics.median(taken), 3) for name, taken in samples.items()}
    return found


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


def _times(name: str, times: dict[str, Table]) -> dict[str, dict[str, float]]:
    return {
        case: {what: cells[what][name] for what in cells} for case, cells in times.items() if name in cells["decode"]
    }


def _ratios(name: str, times: dict[str, Table]) -> dict[str, dict[str, float]]:
    return {
        case: {what: round(cells[what][name] / cells[what]["ours"], 2) for what in cells}
        for case, cells in times.items()
        if name in cells["decode"]
    }


def table(result: dict[str, Any]) -> list[str]:
    """The same as lines of text."""
    heads = [f"{name} {peer['version']}" for name, peer in result["peers"].items()]
    lines = ["| case | bytes | | ours us | " + " | ".join(heads) + " |", "|---" * (4 + len(heads)) + "|"]
    for case, size in result["cases"].items():
        for what, own in result["ours"][case].items():
            cells = [_cell(result["ratios"][name].get(case), what) for name in result["peers"]]
            lines.append(f"| {case} | {size} | {what} | {own:.1f} | " + " | ".join(cells) + " |")
        lines.append(
            f"| {case} | {size} | parts | {result['parts'][case]:.1f} | " + " | ".join("-" for _ in heads) + " |"
        )
    return lines


def _cell(ratios: dict[str, float] | None, what: str) -> str:
    return "-" if ratios is None else f"{ratios[what]:.2f}x"


if __name__ == "__main__":
    sys.exit(main())
