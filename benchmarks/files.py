"""Measures records per second through confluent-kafka with all logs in files.

The rounds are interleaved with our own logs in memory, and with a real Kafka.

    python -m benchmarks.files [--megabytes 50] [--rounds 5] [--json]

Records have 100 bytes and 1 KB, in 1 partition and 12. Goals: at least 0.8 of the rate in memory,
and at least the rate of the real Kafka, whose data is in files of the same file system. No server
flushes. The client is the same for all and does most of the work.

A virtual machine that gave its free memory back to its host pays for the first touch of every page,
ten times a write to the page cache. Growing files take fresh pages; a process reuses its own. So
the benchmark touches and frees memory right before each cell, and the cells compare only the
servers.
"""

from __future__ import annotations

import argparse
import mmap
import statistics
import tempfile
from contextlib import ExitStack

from interop.real_kafka import Missing

from . import report, servers
from .throughput import consume, create, produce

SIZES, PARTITIONS = (100, 1000), (1, 12)
OURS = "files"
TOUCHED = 1 << 30
"""Bytes of memory that the benchmark touches before a cell."""

Rates = dict[str, dict[str, list[float]]]
"""Records per second by server and case, one value per round."""


def measure(megabytes: int, rounds: int) -> Rates:
    """The figures of every server; of a real Kafka only where it can run."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-"))
        running = {OURS: stack.enter_context(servers.ours("--data-dir", folder))}
        running["memory"] = stack.enter_context(servers.ours())
        try:
            running["kafka"] = stack.enter_context(servers.kafka())
        except Missing as why:
            report.note(f"no real Kafka to compare with: {why}")
        rates: Rates = {name: {} for name in running}
        for turn in range(rounds + 1):
            for size in SIZES:
                for partitions in PARTITIONS:
                    for name, (bootstrap, _) in running.items():
                        records = megabytes * 1_000_000 // size // (1 if turn else 4)
                        counted = rates[name] if turn else {}  # the first round warms up
                        _round(counted, bootstrap, f"bench-{size}-{partitions}-{turn}", size, partitions, records)
    return rates


def _round(rates: dict[str, list[float]], bootstrap: str, topic: str, size: int, partitions: int, records: int) -> None:
    back_memory()
    create(bootstrap, topic, partitions)
    case = f"{size} B, {partitions} partition{'s' if partitions > 1 else ''}"
    seconds = produce(bootstrap, topic, records, b"x" * size, partitions)
    rates.setdefault(f"produce {case}", []).append(records / seconds)
    seconds = consume(bootstrap, topic, records, partitions)
    rates.setdefault(f"consume {case}", []).append(records / seconds)


def back_memory(size: int = TOUCHED) -> None:
    """Touch so much memory, so that the host provides it."""
    with mmap.mmap(-1, size) as touched:
        for page in range(0, size, mmap.PAGESIZE):
            touched[page] = 1


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=50, help="of records in each case and round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rates = measure(arguments.megabytes, arguments.rounds)
    table = report.Table("files", "records/s; goals: at least 0.8 of memory, 1 of kafka")
    for case in sorted(rates[OURS]):
        medians = {name: statistics.median(cases[case]) for name, cases in rates.items()}
        table.add(case, medians.pop(OURS), medians)
    table.print(as_json=arguments.json)


if __name__ == "__main__":
    main()
