"""Reads and validates the records of a snapshot, batch by batch (KIP-630).

The header is first, the footer last. Checksums must be right, offsets start at 0 without gaps, and
every batch has the epoch of the id; batches are not compressed; all records of a batch have the
batch's timestamp and no headers; only control records have keys. Anything else is a BadFile with
the file and the position. Kafka also requires the header, one timestamp, no headers and no keys; it
accepts a missing footer, other offsets and epochs, and compression. At most one batch is in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, NoReturn, Protocol

from kafkadouble.wire.batch import (
    CONTROL_NAMES,
    HEADER_SIZE,
    SNAPSHOT_FOOTER,
    SNAPSHOT_HEADER,
    BatchHeader,
    Record,
    check_crc,
    control_type,
    read_header,
    records_of,
)
from kafkadouble.wire.batch_header import CONTROL_FLAG
from kafkadouble.wire.compression import LIMIT
from kafkadouble.wire.errors import WireError
from kafkadouble.wire.file_slice import FileSlice
from kafkadouble.wire.value_batch import plain_values

from ...log.formats.errors import BadFile, bad_from
from ...log.formats.names import checkpoint_name
from ...log.offset_and_epoch import OffsetAndEpoch
from ..voters import VoterSet
from .snapshot_header import SnapshotHeader, head_of, value_of


class SnapshotSource(Protocol):
    """Bytes with random access: a file, or a snapshot in progress."""

    @property
    def size(self) -> int: ...

    def read(self, position: int, size: int) -> bytes: ...


class BytesSource:
    """Bytes in memory."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes | bytearray) -> None:
        self._data = data

    @property
    def size(self) -> int:
        return len(self._data)

    def read(self, position: int, size: int) -> bytes:
        return bytes(self._data[position : position + size])

    def __repr__(self) -> str:
        return f"{self.size} bytes"


class SnapshotBatch(NamedTuple):
    """One batch with valid records. `values` is set for batches of plain values; `records` is empty
    then.
    """

    position: int
    header: BatchHeader
    records: list[Record]
    values: list[bytes] | None


class RecordsSnapshotReader:
    """Reads a snapshot; `close` it, or use `with`. Everything except `id` and the bytes may raise
    BadFile.
    """

    def __init__(
        self,
        id: OffsetAndEpoch,
        source: SnapshotSource,
        file: str = "",
        closed: Callable[[], None] | None = None,
        slice_of: Callable[[int, int], bytes | FileSlice] | None = None,
    ) -> None:
        self.id, self._source, self._closed = id, source, closed
        # Bytes to send: those of `read`, or a range of the file. Valid after `close`, too.
        self.slice = slice_of or source.read
        self.file = file or checkpoint_name(id)
        self._head: SnapshotHeader | None = None

    @property
    def size(self) -> int:
        return self._source.size

    def read(self, position: int, size: int) -> bytes:
        """Any range of bytes, independent of batches."""
        return self._source.read(position, size)

    @property
    def head(self) -> SnapshotHeader:
        """The content of the first batch."""
        if self._head is None:
            self._head = _SnapshotValidator(self.id, self.file).head(next(_batches(self._source, self.file), None))
        return self._head

    @property
    def voters(self) -> tuple[VoterSet | None, int]:
        """The voters, if any, and the `kraft.version`."""
        return self.head.voters, self.head.kraft_version

    def values(self) -> Iterator[list[bytes]]:
        """The values of the records, batch by batch. They are only valid once the iterator has
        ended.
        """
        check = _SnapshotValidator(self.id, self.file)
        for batch in _batches(self._source, self.file):
            check.check_batch(batch)
            if not batch.header.is_control:
                yield [value_of(record) for record in batch.records] if batch.values is None else batch.values
        check.end(self._source.size)

    def close(self) -> None:
        """Ends the use of the snapshot."""
        closed, self._closed = self._closed, None
        if closed is not None:
            closed()

    def __enter__(self) -> RecordsSnapshotReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"snapshot up to {self.id!r}, {self.size} bytes"


def verify(id: OffsetAndEpoch, source: SnapshotSource, file: str = "") -> SnapshotHeader:
    """BadFile unless the bytes are a complete snapshot with this id; returns its header."""
    reader = RecordsSnapshotReader(id, source, file)
    for _ in reader.values():
        pass
    return reader.head


class _SnapshotValidator:
    """The part of a snapshot that was read, and the records that may follow."""

    def __init__(self, id: OffsetAndEpoch, file: str) -> None:
        self._id, self._file = id, file
        self._offset, self._begun, self._ended = 0, False, False

    def head(self, batch: SnapshotBatch | None) -> SnapshotHeader:
        """The content of the first batch."""
        if batch is None:
            self._bad("it is empty", 0)
        self.check_batch(batch)
        try:
            return head_of(batch.records)
        except WireError as problem:
            raise bad_from(problem, self._file, batch.position) from problem

    def check_batch(self, batch: SnapshotBatch) -> None:
        """Checks the next batch. BadFile."""
        at, header = batch.position, batch.header
        if header.base_offset != self._offset:
            self._bad(f"a batch at offset {header.base_offset}, where {self._offset} is due", at)
        if header.partition_leader_epoch != self._id.epoch:
            self._bad(f"a batch of epoch {header.partition_leader_epoch} in a snapshot of epoch {self._id.epoch}", at)
        if self._ended:
            self._bad("something comes behind the footer", at)
        if batch.values is not None and not self._begun:
            self._bad("the header is not first", at)
        for record in batch.records:
            self._check_record(record, header, at)
        self._offset = header.next_offset

    def _check_record(self, record: Record, header: BatchHeader, at: int) -> None:
        if record.headers:
            self._bad(f"{record!r} has headers", at)
        if record.timestamp != header.base_timestamp:
            self._bad(f"{record!r} has another time than its batch, {header.base_timestamp}", at)
        kind = self._control_type(record, at) if header.is_control else None
        if kind is None and record.key is not None:
            self._bad(f"{record!r} has a key", at)
        if not record.value:
            self._bad(f"{record!r} has no value", at)
        if self._begun == (kind == SNAPSHOT_HEADER):
            self._bad("a second header" if self._begun else "the header is not first", at)
        if self._ended:
            self._bad("something comes behind the footer", at)
        self._begun, self._ended = True, kind == SNAPSHOT_FOOTER

    def _control_type(self, record: Record, at: int) -> int:
        try:
            return control_type(record)[1]
        except WireError as problem:
            raise bad_from(problem, self._file, at) from problem

    def end(self, size: int) -> None:
        """Checks the end of the snapshot."""
        if not self._ended:
            self._bad(f"no {CONTROL_NAMES[SNAPSHOT_FOOTER]} at the end", size)

    def _bad(self, problem: str, at: int) -> NoReturn:
        raise BadFile(problem, file=self._file, offset=at)


def _batches(source: SnapshotSource, file: str) -> Iterator[SnapshotBatch]:
    """The batches, before validation."""
    position = 0
    while position < source.size:
        try:
            batch = _batch(source, position)
        except WireError as problem:
            raise bad_from(problem, file, position) from problem
        yield batch
        position += batch.header.size


def _batch(source: SnapshotSource, position: int) -> SnapshotBatch:
    header = read_header(source.read(position, HEADER_SIZE), partial=True)
    if header.size > min(LIMIT, source.size - position):
        raise BadFile(f"a batch of {header.size} bytes, {source.size - position} are left", offset=0)
    if header.magic != 2 or header.attributes & ~CONTROL_FLAG:
        raise BadFile(
            f"{header!r} with the attributes {header.attributes:#x}: compressed, or not a snapshot's", offset=0
        )
    if header.count <= 0 or header.count != header.last_offset_delta + 1:
        raise BadFile(f"{header.count} records over {header.last_offset_delta + 1} offsets", offset=0)
    data = source.read(position, header.size)
    check_crc(data, 0, header)
    values = None if header.is_control else plain_values(data, header)
    if values is not None:
        return SnapshotBatch(position, header, [], values)
    records = records_of(data, 0, header, check_crc=False)
    for at, record in enumerate(records):
        if record.offset != header.base_offset + at:
            raise BadFile(f"{record!r}, where offset {header.base_offset + at} is due", offset=0)
    return SnapshotBatch(position, header, records, None)
