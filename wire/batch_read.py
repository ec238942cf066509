"""Batches to records, of any magic and any codec, with every check that Kafka's readers make.

Errors: CorruptBatch, BadLength and UnsupportedMagic (Kafka: CORRUPT_MESSAGE) are about the batch as
a whole, InvalidRecord (INVALID_RECORD) about a record inside, BadCompression and TooLarge about the
codec.
"""

from .batch_header import APPEND_TIME, APPEND_TIME_FLAG, COMPRESSION_MASK, HEADER_SIZE, BatchHeader
from .batch_walk import check_crc as check_batch_crc
from .batch_walk import iter_batches, read_header
from .checksum import Buffer
from .compression import LIMIT, decompress
from .record import Record
from .record_body import Odd, decode_fast
from .record_careful import BatchContext, decode_carefully
from .record_scan import Scan, scan_carefully, scan_fast


def decode_records(buffer: Buffer, position: int = 0, *, limit: int = LIMIT, check_crc: bool = True) -> list[Record]:
    """The records of the batch at `position`; they decompress to at most `limit` bytes. Raises
    WireError kinds, with byte offsets: in the buffer, or for a compressed batch in the decompressed
    bytes (the path says so)."""
    header = read_header(buffer, position)
    return records_of(buffer, position, header, limit=limit, check_crc=check_crc)


def decode_all(buffer: Buffer, *, limit: int = LIMIT, check_crc: bool = True, partial: bool = False) -> list[Record]:
    """The records of all batches in `buffer`. `limit` binds each batch; `partial` lets the last one
    be cut off."""
    records: list[Record] = []
    for position, header in iter_batches(buffer, partial=partial):
        records += records_of(buffer, position, header, limit=limit, check_crc=check_crc)
    return records


def records_of(
    buffer: Buffer, position: int, header: BatchHeader, *, limit: int = LIMIT, check_crc: bool = True
) -> list[Record]:
    """`decode_records` for a caller that has the header already."""
    if check_crc:
        check_batch_crc(buffer, position, header)
    if header.magic < 2:
        from .legacy import decode_legacy

        return decode_legacy(buffer, position, header, limit, check_crc)
    if header.count == 0:  # an empty batch that compaction retained; Kafka reads no further either
        return []
    body = body_of(buffer, position, header, limit)
    append_time = header.max_timestamp if header.attributes & APPEND_TIME_FLAG else None
    try:
        return decode_fast(body, header.count, header.base_offset, header.base_timestamp, append_time)
    except (IndexError, Odd):
        return decode_carefully(body, header.count, _place(position, header))


def scan_records(buffer: Buffer, position: int, header: BatchHeader, limit: int = LIMIT) -> Scan:
    """Reads through the records of a batch of magic 2 without making them. The checksum is the
    caller's to check. Raises WireError kinds."""
    if header.count == 0:
        return Scan(True, -1, -1, -1, -1, b"")
    body = body_of(buffer, position, header, limit)
    try:
        return scan_fast(body, header.count, header.base_offset, header.base_timestamp)
    except (IndexError, Odd):
        return scan_carefully(body, header.count, _place(position, header))


def body_of(buffer: Buffer, position: int, header: BatchHeader, limit: int = LIMIT) -> bytes:
    """The bytes of the records of a batch of magic 2, decompressed. Raises BadCompression,
    TooLarge."""
    packed = memoryview(buffer)[position + HEADER_SIZE : position + header.size]
    codec = header.attributes & COMPRESSION_MASK
    return decompress(codec, packed, limit) if codec else packed.tobytes()


def _place(position: int, header: BatchHeader) -> BatchContext:
    append_time = header.max_timestamp if header.timestamp_type == APPEND_TIME else None
    start, path = (0, "decompressed records") if header.compression else (position + HEADER_SIZE, "records")
    return BatchContext(header.base_offset, header.base_timestamp, append_time, start, path)
