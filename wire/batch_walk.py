"""Reads batch headers from bytes: one header, or all of a buffer. It makes the checks that a broker
needs before it trusts the sizes.

Every fetched and produced byte passes here, so a plain batch costs one unpack and one object. This
file never reads records, and never decompresses.
"""

import zlib
from collections.abc import Iterator
from struct import Struct, error

from .batch_header import (
    CRC_START,
    HEADER,
    HEADER_SIZE,
    LEGACY_CRC_START,
    LOG_OVERHEAD,
    SMALLEST_LENGTHS,
    BatchHeader,
)
from .checksum import Buffer, crc32c
from .errors import BadLength, CorruptBatch, Truncated, UnsupportedMagic

_unpack, _new = HEADER.unpack_from, object.__new__
_LENGTH_TO_MAGIC = Struct(">i4xb")
_SHORTEST = {**SMALLEST_LENGTHS, 2: HEADER_SIZE - LOG_OVERHEAD}


def read_header(buffer: Buffer, position: int = 0, *, partial: bool = False) -> BatchHeader:
    """The header of the batch at `position`, after checking its length and magic, not its checksum.

    Raises Truncated when the buffer ends before the batch does (with `partial`, only when it ends
    before the header does), BadLength, UnsupportedMagic, CorruptBatch.
    """
    try:
        # sets the fields directly, as generated readers do: a call of `__init__` takes longer
        header = _new(BatchHeader)
        (
            header.base_offset, header.size, header.partition_leader_epoch, header.magic, header.crc, header.attributes,
            header.last_offset_delta, header.base_timestamp, header.max_timestamp, header.producer_id,
            header.producer_epoch, header.base_sequence, header.count,
        ) = _unpack(buffer, position)  # fmt: skip
    except error:
        return _read_odd_header(buffer, position, partial)
    if header.magic != 2 or header.size < 49:  # HEADER_SIZE - LOG_OVERHEAD
        return _read_odd_header(buffer, position, partial)
    header.size += 12  # LOG_OVERHEAD
    if position + header.size > len(buffer) and not partial:
        raise _truncated(buffer, position)
    return header


def iter_batches(buffer: Buffer, position: int = 0, *, partial: bool = False) -> Iterator[tuple[int, BatchHeader]]:
    """Every batch from `position` on, with its position. A last batch that is cut off raises
    Truncated. With `partial` it is skipped, because a fetch response may end with one."""
    while position < len(buffer):
        try:
            header = read_header(buffer, position)
        except Truncated:
            if partial:
                return
            raise
        yield position, header
        position += header.size


def check_crc(buffer: Buffer, position: int, header: BatchHeader) -> None:
    """Raises CorruptBatch unless the batch's bytes match its checksum."""
    end = position + header.size
    if header.magic == 2:
        computed = crc32c(memoryview(buffer)[position + CRC_START : end])
    else:
        computed = zlib.crc32(memoryview(buffer)[position + LEGACY_CRC_START : end])
    if computed != header.crc:
        raise CorruptBatch(f"checksum {header.crc:#010x} stored, {computed:#010x} computed", offset=position)


def _read_odd_header(buffer: Buffer, position: int, partial: bool) -> BatchHeader:
    """The header of every batch but one of magic 2 that is complete in the buffer. The checks are
    in Kafka's order."""
    left = len(buffer) - position
    if (
        left >= LOG_OVERHEAD
        and (length := int.from_bytes(buffer[position + 8 : position + 12], "big", signed=True)) < 14
    ):
        raise BadLength(f"a batch of {length} bytes", offset=position + 8)
    if left < 17:  # up to and including the magic
        raise _truncated(buffer, position)
    length, magic = _LENGTH_TO_MAGIC.unpack_from(buffer, position + 8)
    if magic not in _SHORTEST:
        raise UnsupportedMagic(f"magic {magic}", offset=position + 16)
    if length < _SHORTEST[magic]:
        raise CorruptBatch(f"a batch of magic {magic} in {length} bytes", offset=position + 8)
    if left < (_SHORTEST[magic] if partial else length) + LOG_OVERHEAD:
        raise _truncated(buffer, position)
    from .legacy import read_legacy_header

    return read_legacy_header(buffer, position)


def _truncated(buffer: Buffer, position: int) -> Truncated:
    return Truncated(f"{len(buffer) - position} bytes left, the batch has more", offset=position)
