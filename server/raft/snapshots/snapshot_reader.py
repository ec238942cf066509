"""Bytes to the records of a snapshot, batch by batch, each checked before it counts (KIP-630).

The header comes first and the footer last, and nothing behind it; every checksum is right; offsets follow one another from 0, all in the
epoch of the id; nothing is compressed; all records of a batch have the batch's time, and no headers; records have no key, control records have
one. What is not so is a BadFile that names the file and the byte. Kafka, too, wants the header first, one time, no headers and no keys; it
would read on without a footer, with other offsets and epochs, and compressed. At most one batch is in memory.
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
    """Bytes that can be read anywhere: a file, a part of a store."""

    @property
    def size(self) -> int: ...

    def read(self, position: int, size: int) -> bytes: ...


class BytesSource:
    """Bytes in memory as a source."""

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
    """One batch, whose records are as they must be. `values`: they are values and nothing else, and are not in `records`."""

    position: int
    header: BatchHeader
    records: list[Record]
    values: list[bytes] | None


class RecordsSnapshotReader:
    """A snapshot that is read; `close` it, or use it in a `with`. Everything but `id` and the bytes raises BadFile."""

    def __init__(
        self,
        id: OffsetAndEpoch,
        source: SnapshotSource,
        file: str = "",
        closed: Callable[[], None] | None = None,
        stretch: Callable[[int, int], bytes | FileSlice] | None = None,
    ) -> None:
        self.id, self._source, self._closed = id, source, closed
        self.stretch = stretch or source.read
        """Bytes to be sent, as `read` gives them, or where they lie; good also after it is closed."""
        self.file = file or checkpoint_name(id)
        self._head: SnapshotHeader | None = None

    @property
    def size(self) -> int:
        return self._source.size

    def read(self, position: int, size: int) -> bytes:
        """Any of its bytes, wherever batches begin."""
        return self._source.read(position, size)

    @property
    def head(self) -> SnapshotHeader:
        """What its first batch says."""
        if self._head is None:
            self._head = _SnapshotValidator(self.id, self.file).head(next(_batches(self._source, self.file), None))
        return self._head

    @property
    def voters(self) -> tuple[VoterSet | None, int]:
        """The voters that it names, and the `kraft.version`."""
        return self.head.voters, self.head.kraft_version

    def values(self) -> Iterator[list[bytes]]:
        """The values of the records, those of a batch at a time. The last ones are not to be trusted before the iterator has ended."""
        check = _SnapshotValidator(self.id, self.file)
        for batch in _batches(self._source, self.file):
            check.check_batch(batch)
            if not batch.header.is_control:
                yield [value_of(record) for record in batch.records] if batch.values is None else batch.values
        check.end(self._source.size)

    def close(self) -> None:
        """It is read no more."""
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
    """BadFile unless these bytes are a whole snapshot with this id; what its first batch says."""
    reader = RecordsSnapshotReader(id, source, file)
    for _ in reader.values():
        pass
    return reader.head


class _SnapshotValidator:
    """What has come of a snapshot, and what therefore may come."""

    def __init__(self, id: OffsetAndEpoch, file: str) -> None:
        self._id, self._file = id, file
        self._offset, self._begun, self._ended = 0, False, False

    def head(self, batch: SnapshotBatch | None) -> SnapshotHeader:
        """What the first batch says."""
        if batch is None:
            self._bad("it is empty", 0)
        self.check_batch(batch)
        try:
            return head_of(batch.records)
        except WireError as problem:
            raise bad_from(problem, self._file, batch.position) from problem

    def check_batch(self, batch: SnapshotBatch) -> None:
        """The next batch. BadFile when it is out of place."""
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
        """No batch comes any more."""
        if not self._ended:
            self._bad(f"no {CONTROL_NAMES[SNAPSHOT_FOOTER]} at the end", size)

    def _bad(self, problem: str, at: int) -> NoReturn:
        raise BadFile(problem, file=self._file, offset=at)


def _batches(source: SnapshotSource, file: str) -> Iterator[SnapshotBatch]:
    """The batches, whatever they say."""
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
