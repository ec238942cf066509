"""Records to the batches of a snapshot, a little at a time (KIP-630).

A control batch with the header, batches of records without keys, a control batch with the footer: plain batches of the log format, not
compressed, whose offsets follow one another from 0, in the epoch of the snapshot's id. All records of a batch have the time at which it was
begun. Batches are smaller than Kafka's (8 MiB): making one must not hold up a node. This file knows no file: it is given a part of a store.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from itertools import islice

from kafkadouble.wire.batch import HEADER_SIZE, Record, control_record, encode_batch

from ..control_records import Control
from .head import Head, controls_of, footer
from .store import Part

KAFKAS_BATCH = 8 << 20
"""Bytes of the largest batch that Kafka writes."""

BATCH = 128 << 10
SLICE = 1000
"""Records between two pauses: some milliseconds of work."""


class SnapshotWriter:
    """Writes into `part`, which is frozen or abandoned in the end. No batch has more than `most` bytes, but for one of a single record."""

    def __init__(self, part: Part, head: Head, now: int, most: int = BATCH) -> None:
        self._part, self._most = part, most
        self._offset = 0  # of the next record that is added
        self._values: list[bytes] = []  # of the batch that is being filled
        self._size, self._begun = 0, now
        self._control(controls_of(head), now)

    def append(self, values: Iterable[bytes], now: int) -> None:
        """Add records."""
        for value in values:
            size = _size_of(value, len(self._values))
            if self._values and self._size + size > self._most:
                self._end_batch()
                size = _size_of(value, 0)
            if not self._values:
                self._size, self._begun = HEADER_SIZE, now
            self._values.append(value)
            self._size += size

    def freeze(self, now: int) -> int:
        """End the snapshot, which is there from now on; its size."""
        self._end_batch()
        self._control([footer()], now)
        self._part.freeze()
        return self._part.size

    def _end_batch(self) -> None:
        if self._values:
            records = [Record(self._offset + at, self._begun, None, value) for at, value in enumerate(self._values)]
            self._write(records, is_control=False)
            self._values = []

    def _control(self, controls: Iterable[Control], now: int) -> None:
        records = [control_record(self._offset + at, now, kind, value) for at, (kind, value) in enumerate(controls)]
        self._write(records, is_control=True)

    def _write(self, records: list[Record], is_control: bool) -> None:
        epoch = self._part.id.epoch
        batch = encode_batch(records, base_offset=self._offset, partition_leader_epoch=epoch, is_control=is_control)
        self._part.append(batch)
        self._offset += len(records)

    def __repr__(self) -> str:
        return f"writer of {self._part!r}, {self._offset + len(self._values)} records"


def write(
    part: Part, head: Head, values: Iterator[bytes], now: int, *, most: int = BATCH, records: int = SLICE
) -> Generator[None, int | None, int]:
    """Write a whole snapshot, pausing after every `records`; its size is the generator's value. Each pause may be sent what time it is.

    Whatever goes wrong, and when the generator is closed before its end, nothing is left.
    """
    try:
        writer = SnapshotWriter(part, head, now, most)
        while some := list(islice(values, records)):
            writer.append(some, now)
            later = yield
            now = now if later is None else later
        return writer.freeze(now)
    except BaseException:
        part.abandon()
        raise


def write_at_once(part: Part, head: Head, values: Iterable[bytes], now: int, *, most: int = BATCH) -> int:
    """`write`, without a pause."""
    steps = write(part, head, iter(values), now, most=most)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            size: int = end.value
            return size


def _size_of(value: bytes, delta: int) -> int:
    """The bytes of a record without key and headers, `delta` offsets into its batch."""
    body = 4 + _varint_size(delta) + _varint_size(len(value)) + len(value)
    return _varint_size(body) + body


def _varint_size(value: int) -> int:
    """Of a number that is not negative."""
    return max(1, ((value << 1).bit_length() + 6) // 7)
