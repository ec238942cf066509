"""Builds compacted logs, and runs the cleaner on a log until it is done."""

from __future__ import annotations

from typing import Any

from kafkadouble.server.log.compaction.cleaner import Cleaned, clean
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.wire.batch import Record, decode_all, encode_batch
from tests.server.log.batches import new_log

NOW, DAY = 1_700_000_000_000, 86_400_000


def compacted(**settings: Any) -> PartitionLog:
    return new_log(**{"cleanup_policy": "compact", "segment_bytes": 2000, **settings})


def write(log: PartitionLog, *records: tuple[bytes, bytes | None], epoch: int = 0, now: int = NOW) -> None:
    made = [Record(at, now, key, value) for at, (key, value) in enumerate(records)]
    log.append_as_leader(encode_batch(made), epoch, now)
    log.commit_all()


def fill(log: PartitionLog, count: int, keys: int, *, epoch: int = 0) -> None:
    for at in range(count):
        write(log, (b"k%d" % (at % keys), b"%d" % at), epoch=epoch)


def cleaned(log: PartitionLog, now: int = NOW, most_keys: int = 1000) -> Cleaned:
    steps = clean(log, now, most_keys)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            value: Cleaned = end.value
            return value


def records(log: PartitionLog) -> list[Record]:
    return [record for batch in log.batches(log.log_start_offset) for record in decode_all(bytes(batch))]
