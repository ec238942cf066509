"""Measures the conversion of record batches to Arrow columns and back, against a plain loop and
against other clients.

    python -m benchmarks.columns [--json] [--rounds N] [--megabytes N]

Reading goes from the bytes of a log to finished columns, with checksums and decompression, without
headers. `ours` is the compiled extension where it is installed (`pip install ./fast`), `numpy` is
the implementation without it, and `loop` is the plain reader of `wire.batch` with Arrow columns of
its records. kafka-python and aiokafka end with an object per record, which is less work;
**aiokafka's records are a C extension**. Writing starts from Arrow columns; the clients get lists
of Python objects that were made before.

All take turns in every round, in one process; a figure is the median of the CPU times. The exit
code is 1 unless numpy is at least 5 times as fast as the loop, and the extension at least twice as
fast as numpy in every case without compression.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa

from kafkadouble.wire import columns
from kafkadouble.wire.batch import Record, encode_batch

from .batches import peers
from .report import Table, note

SEED = 20261122
NAMES = columns.NAMES[:7]
ORIGIN = columns.Origin("orders", 0)
NUMPY_GOAL, NATIVE_GOAL = 5, 2

Job = Callable[[], Any]


class Case(NamedTuple):
    """What a log holds, how many records a batch has, and the implementation in numpy that suits
    it.
    """

    name: str
    record: Callable[[int, random.Random], Record]
    size: int
    codec: int
    numpy: str


def order(offset: int, dice: random.Random) -> Record:
    """Some 200 bytes of JSON with a key of 16 bytes; one of 20 without a key, every second with a
    header.
    """
    value = json.dumps({"order": offset, "user": f"u{dice.randrange(10**8):08d}", "amount": dice.random() * 1000,
                        "note": "left at the door of the neighbour, as agreed", "paid": bool(offset & 1),
                        "sum": dice.randrange(10**12), "place": "warehouse seven"})  # fmt: skip
    key = None if dice.random() < 0.05 else b"%016d" % offset
    return Record(
        offset, 1_700_000_000_000 + offset, key, value.encode(), (("trace", b"0123456789abcdef"),) * (offset & 1)
    )


def tiny(offset: int, dice: random.Random) -> Record:
    return Record(offset, 1_700_000_000_000 + offset, b"%08d" % (offset % 10**8), b"%012d" % offset)


CASES = (
    Case("json, batches of 16 KB", order, 65, 0, "lanes"),
    Case("json, batches of 1 MB", order, 4200, 0, "hybrid"),
    Case("tiny, batches of 16 KB", tiny, 580, 0, "lanes"),
    Case("json, 16 KB, zstd", order, 65, 4, "lanes"),
    Case("json, 1 MB, zstd", order, 4200, 4, "hybrid"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.columns", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object: cases, ours, peers, ratios")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each (5)")
    parser.add_argument("--megabytes", type=int, default=8, help="of uncompressed records in a case (8)")
    options = parser.parse_args(arguments)
    if "native" not in columns.available():
        note("kafkadouble_fast is not installed (pip install ./fast): ours is numpy")
    modules = peers()
    table = Table("record batches as columns", "ns of CPU per record, lower is better")
    missed = []
    for case in CASES:
        medians = read(case, options.megabytes << 20, options.rounds, modules)
        missed += goals(case, medians)
        table.add(f"read {case.name}", medians.pop("native", medians["numpy"]), medians)
    medians = write(options.megabytes << 20, options.rounds, modules)
    table.add("write json", medians.pop("ours"), medians)
    table.print(as_json=options.json)
    for sentence in missed:
        note(sentence)
    return 1 if missed else 0


def goals(case: Case, medians: dict[str, float]) -> list[str]:
    """The goals that a case misses."""
    missed = []
    if medians["loop"] < NUMPY_GOAL * medians["numpy"]:
        missed.append(f"{case.name}: numpy is not {NUMPY_GOAL} times as fast as the loop")
    if not case.codec and medians["numpy"] < NATIVE_GOAL * medians.get("native", 0):
        missed.append(f"{case.name}: the extension is not {NATIVE_GOAL} times as fast as numpy")
    return missed


def records(case: Case, size: int) -> list[list[Record]]:
    """Batches of seeded records of about `size` bytes in all."""
    dice = random.Random(SEED)
    made: list[list[Record]] = []
    while size > 0:
        base = len(made) * case.size
        batch = [case.record(base + at, dice) for at in range(case.size)]
        size -= sum(len(record.key or b"") + len(record.value or b"") + 12 for record in batch)
        made.append(batch)
    return made


def read(case: Case, size: int, rounds: int, modules: dict[str, Any]) -> dict[str, float]:
    batches = records(case, size)
    buffer = b"".join(encode_batch(batch, base_offset=batch[0].offset, compression=case.codec) for batch in batches)
    jobs: dict[str, Job] = {"numpy": partial(_columns, buffer, case.numpy), "loop": partial(_columns, buffer, "loop")}
    if "native" in columns.available():
        jobs["native"] = partial(_columns, buffer, "native")
    ends = columns.walk(buffer).end.tolist()
    slices = [buffer[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    for name, module in modules.items():
        jobs[name] = partial(_objects, module, slices)
    return measure(jobs, rounds, sum(map(len, batches)))


def _columns(buffer: bytes, implementation: str) -> int:
    headers = columns.walk(buffer)
    return sum(some.num_rows for some in columns.decode(buffer, headers, NAMES, ORIGIN, implementation=implementation))


def _objects(module: Any, batches: list[bytes]) -> int:
    count = 0
    for data in batches:
        batch = module.DefaultRecordBatch(data)
        if not batch.validate_crc():
            raise ValueError("the checksum does not match")
        count += len(list(batch))
    return count


def write(size: int, rounds: int, modules: dict[str, Any]) -> dict[str, float]:
    """Batches of about 1 MB of rows without headers."""
    rows = [record for batch in records(CASES[1], size) for record in batch]
    keys, values, stamps = [row.key for row in rows], [row.value for row in rows], [row.timestamp for row in rows]
    arrow = pa.record_batch([pa.array(keys), pa.array(values), pa.array(stamps)], ["key", "value", "timestamp"])
    jobs: dict[str, Job] = {"ours": partial(_encode, arrow)}
    for name, module in modules.items():
        jobs[name] = partial(_build, module, keys, values, stamps)
    return measure(jobs, rounds, len(rows))


def _encode(arrow: pa.RecordBatch) -> int:
    columns.encode(arrow, now=0)
    return int(arrow.num_rows)


def _build(module: Any, keys: list[Any], values: list[Any], stamps: list[int]) -> int:
    for low in range(0, len(keys), CASES[1].size):
        builder = module.DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, 1 << 30)
        for at in range(low, min(low + CASES[1].size, len(keys))):
            builder.append(at - low, stamps[at], keys[at], values[at], [])
        builder.build()
    return len(keys)


def measure(jobs: dict[str, Job], rounds: int, count: int) -> dict[str, float]:
    """The median of each job, in ns per record; all must have read the same number of records."""
    samples: dict[str, list[float]] = {name: [] for name in jobs}
    for name, job in jobs.items():
        if (seen := job()) != count:
            raise ValueError(f"{name} read {seen} records of {count}")
    gc.collect()
    for _ in range(rounds):
        for name, job in jobs.items():
            began = time.process_time_ns()
            job()
            samples[name].append((time.process_time_ns() - began) / count)
    return {name: statistics.median(taken) for name, taken in samples.items()}


if __name__ == "__main__":
    sys.exit(main())
