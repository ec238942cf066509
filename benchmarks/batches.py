"""Measures how fast record batches are built and parsed, against other Python clients.

    python -m benchmarks.batches [--json] [--rounds N]

A batch has 1000 records with a key of 10 bytes and a value of 100 bytes, seeded, about as
compressible as text. Building includes compression and the checksum; parsing includes the check of
the checksum and ends with all records as objects. kafka-python is pure Python like this project;
**aiokafka's records are a C extension** and are shown for information. The libraries take turns in
every round, in one process; a figure is the median of the CPU times. `header and checksum` is the
broker's work for a batch that it stores, `scan` its validation before that (Kafka's LogValidator).
"""

import argparse
import gc
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from kafkadouble.wire.batch import Record, check_crc, decode_records, encode_batch, read_header, scan_records
from kafkadouble.wire.compression import CODECS

from .report import Table, note

COUNT, KEY, VALUE, SEED = 1000, 10, 100, 20241025
REPEATS = 5

Job = Callable[[], Any]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batches", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object: cases, ours, peers, ratios")
    parser.add_argument("--rounds", type=int, default=9, help="turns of each library (9)")
    options = parser.parse_args(arguments)
    records = sample()
    modules = peers()
    table = Table("record batches of 1000 records", "us of CPU per batch, lower is better")
    for codec, row in CODECS.items():
        for verb, jobs in (("build", builders(codec, records, modules)), ("parse", parsers(codec, records, modules))):
            add(table, f"{verb} {row.name}", jobs, options.rounds)
    add(table, "scan none", {"ours": scanner(records)}, options.rounds)
    add(table, "header and checksum", {"ours": checker(records)}, options.rounds)
    table.print(as_json=options.json)
    return 0


def sample() -> list[Record]:
    """The records; they are the same in every run."""
    dice = random.Random(SEED)
    words = [bytes(dice.choices(b"etaoinshrdlu", k=dice.randint(2, 9))) for _ in range(200)]
    made = []
    for index in range(COUNT):
        value = b" ".join(dice.choices(words, k=VALUE // 2))[:VALUE]
        made.append(Record(index, 1_700_000_000_000 + dice.randint(0, 5000), b"key-%06d" % index, value))
    return made


def peers() -> dict[str, Any]:
    """The record modules of the libraries that are installed, by name."""
    found: dict[str, Any] = {}
    try:
        from kafka.record import default_records as kafka_python

        found["kafka-python"] = kafka_python
    except ImportError:
        note("kafka-python is not installed")
    try:
        from aiokafka.record import default_records as aiokafka

        found["aiokafka (C)"] = aiokafka
    except ImportError:
        note("aiokafka is not installed")
    return found


def builders(codec: int, records: list[Record], modules: dict[str, Any]) -> dict[str, Job]:
    jobs: dict[str, Job] = {"ours": lambda: encode_batch(records, compression=codec)}
    for name, module in modules.items():
        jobs[name] = partial(_build, module, codec, records)
        if decode_records(jobs[name]()) != records:
            raise ValueError(f"{name} writes other records than it was given")
    return jobs


def _build(module: Any, codec: int, records: list[Record]) -> bytes:
    builder = module.DefaultRecordBatchBuilder(2, codec, 0, -1, -1, -1, 1 << 30)
    for record in records:
        builder.append(record.offset, record.timestamp, record.key, record.value, [])
    return bytes(builder.build())


def parsers(codec: int, records: list[Record], modules: dict[str, Any]) -> dict[str, Job]:
    data = bytes(encode_batch(records, compression=codec))
    jobs: dict[str, Job] = {"ours": lambda: decode_records(data)}
    for name, module in modules.items():
        jobs[name] = partial(_parse, module, data)
        if [(found.offset, found.timestamp, found.key, found.value) for found in jobs[name]()] != [
            (record.offset, record.timestamp, record.key, record.value) for record in records
        ]:
            raise ValueError(f"{name} reads other records than were written")
    return jobs


def _parse(module: Any, data: bytes) -> list[Any]:
    batch = module.DefaultRecordBatch(data)
    if not batch.validate_crc():
        raise ValueError("the checksum does not match")
    return list(batch)


def scanner(records: list[Record]) -> Job:
    data = bytes(encode_batch(records))
    header = read_header(data)
    return lambda: scan_records(data, 0, header)


def checker(records: list[Record]) -> Job:
    data = bytes(encode_batch(records))
    return lambda: check_crc(data, 0, read_header(data))


def add(table: Table, case: str, jobs: dict[str, Job], rounds: int) -> None:
    """Time the jobs in turns and put their medians into the table."""
    samples: dict[str, list[float]] = {name: [] for name in jobs}
    for job in jobs.values():
        job()
    gc.collect()
    for _ in range(rounds):
        for name, job in jobs.items():
            samples[name].append(_time(job))
    medians = {name: statistics.median(taken) for name, taken in samples.items()}
    table.add(case, medians.pop("ours"), medians)


def _time(job: Job) -> float:
    began = time.process_time_ns()
    for _ in range(REPEATS):
        job()
    return (time.process_time_ns() - began) / REPEATS / 1000


if __name__ == "__main__":
    sys.exit(main())
