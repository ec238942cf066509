"""Measures the cost of logs in files.

    python -m benchmarks.storage [append|read|start] [--folder DIR] [--json]

Appends and reads go through PartitionLog, with files and memory in turns, in one process. CPU time
counts, so that a disk that is busy writing back does not; wall time is shown too. A read includes
sending: the bytes are written to a socket pair and read from it, as by a broker and its client.
`start` opens a log of 2 GB after a clean stop, and 1,000 small logs; and again after a kill, when
the whole segment with the recovery point is read, as in Kafka. Goals: appends and reads at 0.8 of
the speed in memory; starts of 0.3 s, and 1 ms for each partition.
"""

from __future__ import annotations

import argparse
import gc
import os
import shutil
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.wire.batch import Record, encode_batch

from .report import Table, note
from .servers import resident_bytes

NOW = 1_700_000_000_000
ROUNDS, VOLUME = 5, 32 << 20
CONFIG = LogConfig.of({"segment.bytes": 1 << 30})

CASES = {"1000 records of 100 B": (1000, 100), "1 record of 1 KB": (1, 1000), "16 records of 1 KB": (16, 1000)}


def batch_of(count: int, size: int) -> bytes:
    return bytes(encode_batch([Record(index, NOW + index, None, b"v" * size) for index in range(count)]))


def in_files(disk: RealDisk, folder: str, config: LogConfig = CONFIG, **how: int) -> PartitionLog:
    arguments = {"clean": True, "recovery_point": 0, "log_start_offset": 0, "now": NOW, **how}
    return open_log(disk, folder, "bench", 0, config, **arguments)  # type: ignore[arg-type]  # one of them is a bool


class Clock:
    """The CPU and wall seconds of the `with` block."""

    def __enter__(self) -> Clock:
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu, self.wall = time.process_time() - self._cpu, time.perf_counter() - self._wall


def fill(logs: list[PartitionLog], batch: bytes, volume: int = VOLUME) -> Clock:
    """Appends to all logs in turns."""
    appends = [log.append_as_leader for log in logs]
    with Clock() as clock:
        for _ in range(volume // len(batch) // len(logs)):
            for append in appends:
                append(batch, 1, NOW)
    for log in logs:
        log.commit_all()
    return clock


@contextmanager
def sink() -> Iterator[Callable[[memoryview | bytes], None]]:
    """A process that reads what is sent."""
    ours, theirs = socket.socketpair()
    room = bytearray(1 << 20)

    def drain() -> None:
        while theirs.recv_into(room):
            pass

    thread = threading.Thread(target=drain)
    thread.start()
    yield ours.sendall
    ours.close()
    thread.join()
    theirs.close()


def read(logs: list[PartitionLog]) -> Clock:
    """Reads all logs to their ends in turns, a megabyte at a time, and sends the bytes."""
    with sink() as send, Clock() as clock:
        offsets = [0] * len(logs)
        left = True
        while left:
            left = False
            for number, log in enumerate(logs):
                piece = log.read(offsets[number], 1 << 20)
                if len(piece.records):
                    send(piece.records)
                    offsets[number], left = piece.next_offset, True
    return clock


def compare(root: str, table_append: Table, table_read: Table) -> None:
    disk = RealDisk(root)
    for name, (count, size) in CASES.items():
        batch = batch_of(count, size)
        for partitions in (1, 12):
            figures: dict[str, list[float]] = {}
            for turn in range(ROUNDS + 1):
                for storage in ("files", "memory"):
                    if storage == "files":
                        logs = [in_files(disk, f"bench-{number}") for number in range(partitions)]
                    else:
                        logs = [PartitionLog("bench", number, CONFIG) for number in range(partitions)]
                    appended, taken = fill(logs, batch), read(logs)
                    gc.collect()
                    for number in range(partitions) if storage == "files" else ():
                        disk.remove_folder(f"bench-{number}")
                    if turn:
                        figures.setdefault(f"{storage} append", []).append(VOLUME / 1e6 / appended.cpu)
                        figures.setdefault(f"{storage} append wall", []).append(VOLUME / 1e6 / appended.wall)
                        figures.setdefault(f"{storage} read", []).append(VOLUME / 1e6 / taken.wall)
                    del logs
            medians = {key: statistics.median(values) for key, values in figures.items()}
            case = f"{name}, {partitions} partition{'s' if partitions > 1 else ''}"
            table_append.add(case, medians["files append"], {"memory": medians["memory append"]})
            table_append.add(
                f"{case}, by the wall", medians["files append wall"], {"memory": medians["memory append wall"]}
            )
            table_read.add(case, medians["files read"], {"memory": medians["memory read"]})


def start(root: str, table: Table, gigabytes: float, partitions: int) -> None:
    """Opens logs that were closed, and logs that were not."""
    disk = RealDisk(root)
    # small batches: as large an index as there can be
    log, batch = in_files(disk, "large-0"), batch_of(4, 1000)
    fill([log], batch, int(gigabytes * 1e9))
    flush = log.unflushed()
    if flush is not None:
        flush.run()
        log.flushed(flush.offset)
    end = log.recovery_point
    fill([log], batch, 8 << 20)
    with Clock() as killed:
        in_files(disk, "large-0", clean=False, recovery_point=end)
    log.close()
    del log
    gc.collect()
    before = resident_bytes(os.getpid())
    with Clock() as clean:
        opened = in_files(disk, "large-0")
    note(f"{opened!r}: {(resident_bytes(os.getpid()) - before) / 1e6:.1f} MB of memory")
    for number in range(partitions):
        small = in_files(disk, f"small-{number}")
        fill([small], batch, 2 * len(batch))
        small.close()
    with Clock() as many:
        held = [in_files(disk, f"small-{number}") for number in range(partitions)]
    note(f"{len(held)} logs opened")
    table.add(f"{gigabytes} GB after a clean stop", clean.wall, {"goal": 0.3})
    table.add(f"{gigabytes} GB after a kill: the last segment", killed.wall, {})
    table.add("a small log after a clean stop", many.wall / partitions, {"goal": 0.001})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", nargs="*", default=["append", "start"])
    parser.add_argument("--folder", help="where the files go; a temporary folder unless given")
    parser.add_argument("--gigabytes", type=float, default=2)
    parser.add_argument("--partitions", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    root = tempfile.mkdtemp(dir=arguments.folder)
    try:
        if {"append", "read"} & set(arguments.what):
            appended, taken = Table("append", "MB/s of CPU"), Table("read and send", "MB/s")
            compare(root, appended, taken)
            appended.print(as_json=arguments.json)
            taken.print(as_json=arguments.json)
        if "start" in arguments.what:
            table = Table("start", "s; the goal is the peer")
            start(root, table, arguments.gigabytes, arguments.partitions)
            table.print(as_json=arguments.json)
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
