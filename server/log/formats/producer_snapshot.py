"""`.snapshot`: the state of the producers of a log, at the offset in the file's name (KIP-98).

int16 version (1), uint32 CRC-32C of all that follows, then the entries. Of a producer's batches
only the last one is kept.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkadouble.messages import ProducerSnapshot
from kafkadouble.wire.checksum import crc32c
from kafkadouble.wire.errors import WireError

from ..producers import BatchMetadata, ProducerStateEntry
from .errors import BadFile, bad_from

Entry = ProducerSnapshot.ProducerEntry
VERSION = 1
_CRC, _ENTRIES = 2, 6  # positions of the checksum and of the entries
_ENTRY_SIZE = 46


def read(data: bytes, file: str = "") -> list[Entry]:
    """The entries. BadFile for another version, a wrong checksum, or extra bytes."""
    if len(data) < _ENTRIES:
        raise BadFile(f"{len(data)} bytes are no snapshot", file=file, offset=len(data))
    version = int.from_bytes(data[:_CRC], "big", signed=True)
    if version != VERSION:
        raise BadFile(f"version {version} is not {VERSION}", file=file, offset=0)
    try:
        snapshot = ProducerSnapshot.decode(data, VERSION, _CRC)
    except WireError as error:
        raise bad_from(error, file) from None
    computed = crc32c(memoryview(data)[_ENTRIES:])
    if computed != snapshot.crc:
        raise BadFile(f"checksum {snapshot.crc:#010x} stored, {computed:#010x} computed", file=file, offset=_CRC)
    return list(snapshot.producer_entries)


def write(entries: Iterable[Entry]) -> bytes:
    """A whole file."""
    body = ProducerSnapshot(producer_entries=list(entries)).encode(VERSION)[_ENTRIES - _CRC :]
    return VERSION.to_bytes(2, "big") + crc32c(body).to_bytes(4, "big") + body


def position(number: int) -> int:
    """The position of an entry; the first has number 0."""
    return _ENTRIES + 4 + number * _ENTRY_SIZE


def entry_of(producer: ProducerStateEntry) -> Entry:
    """The entry for a producer."""
    last = producer.batches[-1] if producer.batches else None
    return Entry(
        producer_id=producer.producer_id,
        epoch=producer.epoch,
        last_sequence=last.last_sequence if last else -1,
        last_offset=last.last_offset if last else -1,
        offset_delta=last.last_offset - last.first_offset if last else 0,
        timestamp=producer.last_timestamp,
        coordinator_epoch=producer.coordinator_epoch,
        current_txn_first_offset=producer.transaction_start,
    )


def producer_of(entry: Entry) -> ProducerStateEntry:
    """The producer that an entry describes, with its last batch."""
    made = ProducerStateEntry(entry.producer_id)
    made.epoch = entry.epoch
    made.coordinator_epoch = entry.coordinator_epoch
    made.transaction_start = max(entry.current_txn_first_offset, -1)
    if entry.last_offset >= 0:
        first = first_sequence(entry)
        start = entry.last_offset - entry.offset_delta
        made.add(BatchMetadata(first, entry.last_sequence, start, entry.last_offset, entry.timestamp))
    made.last_timestamp = entry.timestamp
    return made


def first_sequence(entry: Entry) -> int:
    """The first sequence of the producer's last batch. Sequences wrap around after 2^31 - 1; -1 for
    a producer without."""
    if entry.last_sequence < 0:
        return -1
    first = entry.last_sequence - entry.offset_delta
    return first if first >= 0 else first + (1 << 31)
