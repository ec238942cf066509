"""Writes records as a batch of magic 2, and makes the changes that a broker makes in place to a
finished batch (KIP-98, KIP-32).

Offset and leader epoch are before the bytes that the checksum covers, so assigning them costs two
stores. A new timestamp costs a new checksum, but no new compression. A batch that is not sealed has
the checksum 0, so a start that writes only a few records does not import the checksum library.
"""

from collections.abc import Iterable
from struct import Struct, error

from . import compression as codecs
from .batch_header import (
    APPEND_TIME_FLAG,
    CONTROL_FLAG,
    CRC_POSITION,
    CRC_START,
    DELETE_HORIZON_FLAG,
    HEADER,
    HEADER_SIZE,
    LOG_OVERHEAD,
    TRANSACTIONAL_FLAG,
    BatchHeader,
)
from .checksum import Buffer, crc32c
from .errors import UsageError
from .record import Record
from .record_write import Body, encode_body

_LONG, _INT, _SHORT, _CRC = Struct(">q"), Struct(">i"), Struct(">h"), Struct(">I")
_PRODUCER = Struct(">qhi")
# their positions
_LENGTH, _LEADER_EPOCH, _ATTRIBUTES, _MAX_TIMESTAMP, _PRODUCER_ID = 8, 12, 21, 35, 43


def encode_batch(
    records: Iterable[Record],
    *,
    base_offset: int = 0,
    compression: int = 0,
    level: int | None = None,
    timestamp_type: int = 0,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    partition_leader_epoch: int = -1,
    is_transactional: bool = False,
    is_control: bool = False,
    max_timestamp: int | None = None,
    last_offset: int | None = None,
    delete_horizon: int | None = None,
    seal: bool = True,
) -> bytearray:
    """A batch of `records`, whose absolute offsets ascend from `base_offset` on, with gaps if need
    be.

    `max_timestamp` is the highest timestamp of the records unless given. `last_offset` may be
    higher than that of the last record, and is needed for a batch without records, which compaction
    can leave (KIP-98). `delete_horizon` (KIP-534) replaces the base timestamp. Raises UsageError
    when a value does not fit its field.
    """
    body = encode_body(records, base_offset, delete_horizon)
    if last_offset is None and not body.record_count:
        raise UsageError("a batch without records needs a last_offset")
    attributes = (
        (compression if body.record_count else 0)
        | (APPEND_TIME_FLAG if timestamp_type else 0)
        | (TRANSACTIONAL_FLAG if is_transactional else 0)
        | (CONTROL_FLAG if is_control else 0)
        | (DELETE_HORIZON_FLAG if delete_horizon is not None else 0)
    )
    header = BatchHeader(
        base_offset,
        0,
        partition_leader_epoch,
        2,
        0,
        attributes,
        _last_delta(body, base_offset, last_offset),
        body.base_timestamp,
        body.max_timestamp if max_timestamp is None else max_timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        body.record_count,
    )
    return wrap_body(header, body.data, level=level, seal=seal)


def wrap_body(header: BatchHeader, body: Buffer, *, level: int | None = None, seal: bool = True) -> bytearray:
    """A batch of magic 2 with the fields of `header` around the records' uncompressed bytes,
    compressed as its attributes say; its size and checksum are computed. To compress a batch again:
    scan it, set the codec in the header's attributes, wrap the body of the scan."""
    data = codecs.compress(header.compression, body, level) if header.compression else body
    try:
        batch = bytearray(
            HEADER.pack(
                header.base_offset,
                len(data) + HEADER_SIZE - LOG_OVERHEAD,
                header.partition_leader_epoch,
                2,
                0,
                header.attributes,
                header.last_offset_delta,
                header.base_timestamp,
                header.max_timestamp,
                header.producer_id,
                header.producer_epoch,
                header.base_sequence,
                header.count,
            )
        )
    except error as problem:
        raise UsageError(f"a batch header cannot hold {header!r}: {problem}") from None
    batch += data
    if seal:
        _seal(batch)
    return batch


def seal(batch: bytearray | memoryview, position: int = 0) -> None:
    """Writes the checksum of the batch at `position`, in place."""
    end = position + LOG_OVERHEAD + _INT.unpack_from(batch, position + _LENGTH)[0]
    with memoryview(batch) as view, view[position + CRC_START : end] as covered:
        checksum = crc32c(covered)
    _CRC.pack_into(batch, position + CRC_POSITION, checksum)


_seal = seal  # for `wrap_body`, whose parameter has the name


def stamp(batch: bytearray | memoryview, base_offset: int, leader_epoch: int, position: int = 0) -> None:
    """Sets offset and leader epoch of the batch at `position`, in place. The checksum stays
    valid."""
    _LONG.pack_into(batch, position, base_offset)
    _INT.pack_into(batch, position + _LEADER_EPOCH, leader_epoch)


def set_producer(
    batch: bytearray | memoryview, producer_id: int, producer_epoch: int, base_sequence: int, position: int = 0
) -> None:
    """Sets the producer of the batch, and the sequence of its first record (KIP-98). In place, with
    a new checksum."""
    _PRODUCER.pack_into(batch, position + _PRODUCER_ID, producer_id, producer_epoch, base_sequence)
    seal(batch, position)


def set_append_time(batch: bytearray | memoryview, timestamp: int, position: int = 0) -> None:
    """Sets the timestamp type to LogAppendTime: all records now have this timestamp. In place, with
    a new checksum."""
    set_max_timestamp(batch, 1, timestamp, position)


def set_max_timestamp(batch: bytearray | memoryview, timestamp_type: int, timestamp: int, position: int = 0) -> None:
    """Sets the timestamp type and the max timestamp, in place; the checksum is computed again only
    when one of them changed."""
    (attributes,) = _SHORT.unpack_from(batch, position + _ATTRIBUTES)
    changed = (attributes & ~APPEND_TIME_FLAG) | (APPEND_TIME_FLAG if timestamp_type else 0)
    if changed == attributes and _LONG.unpack_from(batch, position + _MAX_TIMESTAMP)[0] == timestamp:
        return
    _SHORT.pack_into(batch, position + _ATTRIBUTES, changed)
    _LONG.pack_into(batch, position + _MAX_TIMESTAMP, timestamp)
    seal(batch, position)


def _last_delta(body: Body, base_offset: int, last_offset: int | None) -> int:
    if last_offset is None:
        return body.last_offset - base_offset
    if last_offset < max(body.last_offset, base_offset):
        raise UsageError(f"last_offset {last_offset} lies before a record")
    return last_offset - base_offset
