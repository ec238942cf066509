"""Writes the batches of a snapshot, in slices (KIP-630).

A control batch with the header, batches of records without keys, and a control batch with the
footer: plain uncompressed batches, whose offsets start at 0, in the epoch of the snapshot's id. All
records of a batch have the time at which the batch was started. Batches are smaller than Kafka's (8
MiB), so that one does not block the node. This file knows no files: it writes to a
RawSnapshotWriter.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice

from kafkadouble.wire.batch import HEADER_SIZE, control_record, encode_batch
from kafkadouble.wire.value_batch import value_record, wrap_values

from ..control_records import Control
from .snapshot_header import SnapshotHeader, controls_of, footer
from .store import RawSnapshotWriter

BATCH_SIZE_BYTES = 128 << 10
RECORDS_PER_SLICE = 1000
"""Records between two pauses: some milliseconds of work."""


Steps = Generator[Callable[[], None] | None, int | None, int]
"""A snapshot that is written in slices; see `write`."""


class RecordsSnapshotWriter:
    """Writes to `part`, which is frozen or abandoned in the end. Batches have at most `most` bytes,
    unless a single record is larger.
    """

    def __init__(self, part: RawSnapshotWriter, head: SnapshotHeader, now: int, most: int = BATCH_SIZE_BYTES) -> None:
        self._part, self._most = part, most
        self._offset = 0  # of the next batch
        self._records: list[bytes] = []  # of the current batch
        self._size, self._begun = HEADER_SIZE, now
        self._control(controls_of(head), now)

    def append(self, values: Iterable[bytes], now: int) -> None:
        """Adds records."""
        for value in values:
            record = value_record(value, len(self._records))
            if self._records and self._size + len(record) > self._most:
                self._end_batch()
                record = value_record(value, 0)
            if not self._records:
                self._begun = now
            self._records.append(record)
            self._size += len(record)

    def finish(self, now: int) -> None:
        """Writes the last batch and the footer."""
        self._end_batch()
        self._control([footer()], now)

    def freeze(self) -> int:
        """Completes the snapshot; returns its size (bytes)."""
        self._part.freeze()
        return self._part.size

    def _end_batch(self) -> None:
        records, self._records, self._size = self._records, [], HEADER_SIZE
        if records:
            body, epoch = b"".join(records), self._part.id.epoch
            batch = wrap_values(
                body, len(records), base_offset=self._offset, timestamp=self._begun, partition_leader_epoch=epoch
            )
            self._write(batch, len(records))

    def _control(self, controls: Iterable[Control], now: int) -> None:
        records = [control_record(self._offset + at, now, kind, value) for at, (kind, value) in enumerate(controls)]
        epoch = self._part.id.epoch
        batch = encode_batch(records, base_offset=self._offset, partition_leader_epoch=epoch, is_control=True)
        self._write(batch, len(records))

    def _write(self, batch: bytearray, count: int) -> None:
        self._part.append(batch)
        self._offset += count

    def __repr__(self) -> str:
        return f"writer of {self._part!r}, {self._offset + len(self._records)} records"


def write(
    part: RawSnapshotWriter,
    head: SnapshotHeader,
    values: Iterator[bytes],
    now: int,
    *,
    most: int = BATCH_SIZE_BYTES,
    records: int = RECORDS_PER_SLICE,
) -> Steps:
    """Writes a whole snapshot with a pause after every `records` records; the generator returns its
    size. Send the current time at each pause. The last pause yields a flush, which may run on any
    thread before the generator continues: then the end takes no time.

    Nothing is left after an error, or if the generator is closed early.
    """
    try:
        writer = RecordsSnapshotWriter(part, head, now, most)
        while some := list(islice(values, records)):
            writer.append(some, now)
            later = yield None
            now = now if later is None else later
        writer.finish(now)
        flushing = part.flushing()
        if flushing is not None:
            yield flushing
        return writer.freeze()
    except BaseException:
        part.abandon()
        raise


def write_at_once(
    part: RawSnapshotWriter, head: SnapshotHeader, values: Iterable[bytes], now: int, *, most: int = BATCH_SIZE_BYTES
) -> int:
    """`write` without pauses."""
    steps = write(part, head, iter(values), now, most=most)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            size: int = end.value
            return size
