"""Batches for the tests of the log, and what is read back from it."""

from collections.abc import Callable
from typing import Any

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.wire.batch import Record, decode_all, encode_batch, encode_control_batch, iter_batches
from kafkadouble.wire.control import ABORT, COMMIT

NOW = 1_700_000_000_000


def produced(
    count: int = 1, *, size: int = 10, timestamp: int = NOW, key: bytes | None = None, **how: Any
) -> bytearray:
    """A batch as a client sends it: base offset 0, one millisecond between records."""
    records = [Record(index, timestamp + index, key, b"v" * size) for index in range(count)]
    return encode_batch(records, **how)


def idempotent(sequence: int, count: int = 1, *, producer: int = 7, epoch: int = 0, **how: Any) -> bytearray:
    return produced(count, producer_id=producer, producer_epoch=epoch, base_sequence=sequence, **how)


def transactional(sequence: int, count: int = 1, **how: Any) -> bytearray:
    return idempotent(sequence, count, is_transactional=True, **how)


def marker(*, commit: bool, producer: int = 7, epoch: int = 0, coordinator: int = 1, timestamp: int = NOW) -> bytearray:
    """The control batch that ends a transaction."""
    value = (0).to_bytes(2, "big") + coordinator.to_bytes(4, "big")
    return encode_control_batch(
        COMMIT if commit else ABORT,
        value,
        timestamp=timestamp,
        producer_id=producer,
        producer_epoch=epoch,
        is_transactional=True,
    )


Make = Callable[[LogConfig], PartitionLog]


def in_memory(config: LogConfig) -> PartitionLog:
    return PartitionLog("orders", 0, config)


makes: list[Make] = [in_memory]
"""How logs are made: the last entry counts. A fixture adds one that makes them in files, so that
every test runs with both storages."""


def new_log(**settings: Any) -> PartitionLog:
    """An empty log; settings with `_` for `.`."""
    return makes[-1](LogConfig.of({name.replace("_", "."): value for name, value in settings.items()}))


def filled(*counts: int, epoch: int = 0, **settings: Any) -> PartitionLog:
    """A log with one batch of each of these record counts, all of it committed."""
    log = new_log(**settings)
    for count in counts:
        log.append_as_leader(produced(count), leader_epoch=epoch, now=NOW)
    log.high_watermark = log.log_end_offset
    return log


def offsets(records: memoryview | bytes) -> list[int]:
    """The offset of every record in whole batches; their checksums are verified on the way."""
    return [record.offset for record in decode_all(records)]


def everything(log: PartitionLog) -> list[int]:
    """The offsets of all records that can be read, uncommitted ones too."""
    found: list[int] = []
    position = log.log_start_offset
    while position < log.log_end_offset:
        piece = log.read(position, 1 << 20, log.log_end_offset)
        if not len(piece.records):
            break
        found += offsets(piece.records)
        position = piece.next_offset
    return found


def epochs_in(log: PartitionLog) -> list[int]:
    """The leader epoch that each batch carries."""
    return [header.partition_leader_epoch for batch in log.batches(0) for _, header in iter_batches(batch)]


def flush(log: PartitionLog) -> None:
    """Writes everything to the disk."""
    work = log.unflushed()
    assert work is not None
    work.run()
    log.flushed(work.offset)
