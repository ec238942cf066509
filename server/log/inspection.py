"""Inspects the records of a produced batch: can they be accepted, and how is the batch stored?

Kafka reads through every record. Here that costs more than half a microsecond for each record, so a
batch is read through only when something depends on it: a compacted topic (keys), a conditional
topic (headers), another codec for the topic, a largest timestamp that breaks a bound, a lower bound
on timestamps, a header that contradicts itself, or a small batch, which costs little and was most
likely written by hand. For any other batch the largest timestamp of the header is trusted, and the
lengths of the records are followed. A compressed batch is always decompressed, so that what the
codec refuses is refused. Not seen: damage inside later records, under a correct checksum.

The bytes of the producer are never changed: a rewritten batch is a copy.
"""

from collections.abc import Callable
from copy import copy
from functools import partial

from kafkadouble.messages import error_codes
from kafkadouble.wire.batch import (
    APPEND_TIME,
    CREATE_TIME,
    HEADER_SIZE,
    BatchHeader,
    Record,
    Scan,
    body_of,
    is_one_plain,
    records_of,
    scan_records,
    set_max_timestamp,
    wrap_body,
)
from kafkadouble.wire.batch_header import APPEND_TIME_FLAG, COMPRESSION_MASK, TRANSACTIONAL_FLAG
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.compression import LIMIT
from kafkadouble.wire.errors import BadCompression, InvalidRecord, TooLarge, WireError
from kafkadouble.wire.record_write import encode_body

from .config import UNBOUNDED, UNLIMITED, LogConfig
from .refusals import AppendRefused, RecordError
from .validation import check_size

READ_THROUGH = 16
"""A batch of so many records or fewer is always read through: less than 10 us."""

NO_TIMESTAMP = -1

# One bad timestamp decides the error code of the batch.
_PRECEDENCE = (error_codes.INVALID_RECORD, error_codes.INVALID_TIMESTAMP)


Accepted = tuple[Buffer, int]
"""A batch as it is to be stored, and its largest timestamp."""


class DecompressionBudget:
    """How many bytes the batches of one request may still become when they are decompressed. All
    batches together get no more than one batch alone: otherwise a small request of many compression
    bombs would block the node for minutes."""

    left = LIMIT
    at_once = LIMIT
    """How many bytes a batch may become before `accept` raises SlowDecompression."""
    outcome: Callable[[], Accepted] | None = None
    """The result of `SlowDecompression.work`, for the next `accept`."""


class SlowDecompression(Exception):
    """The records of a batch are many bytes when they are decompressed. `work` returns what
    `accept` would, and may run on any thread."""

    def __init__(self, work: Callable[[], Accepted]) -> None:
        super().__init__("a batch that decompresses to many bytes")
        self.work = work


def accept(
    batch: Buffer, header: BatchHeader, config: LogConfig, now: int, budget: DecompressionBudget | None = None
) -> Accepted:
    """Returns a client's batch, whose header has been checked, as it is to be stored.

    AppendRefused: INVALID_RECORD, INVALID_TIMESTAMP with the records to blame, MESSAGE_TOO_LARGE
    after a new compression, UNKNOWN_SERVER_ERROR for what a codec refuses. SlowDecompression before
    more than `budget.at_once` bytes are decompressed.
    """
    if budget is not None and budget.outcome is not None:
        outcome, budget.outcome = budget.outcome, None
        return outcome()
    if (
        header.count == 1
        and header.base_timestamp == header.max_timestamp
        and _is_plain_header(header, config, now)
        and is_one_plain(batch, HEADER_SIZE, header.size)
    ):
        return batch, header.max_timestamp
    limit = LIMIT if budget is None else min(budget.left, budget.at_once)
    try:
        if header.count <= READ_THROUGH or _must_be_read(header, config, now):
            scan = scan_records(batch, 0, header, limit)
            if _is_plain(header, scan, config, now):
                return batch, scan.max_timestamp
            if budget is not None and header.compression:
                budget.left -= len(scan.body)
            _check_records(batch, header, scan, config, now)
            return _rewritten(batch, header, scan, config, now)
        body = _follow(batch, header, config, limit)
        if budget is not None:
            budget.left -= body
    except BadCompression as problem:
        raise AppendRefused(error_codes.UNKNOWN_SERVER_ERROR, str(problem)) from problem
    except WireError as problem:
        if budget is not None and isinstance(problem, TooLarge):
            if limit < budget.left:
                raise SlowDecompression(partial(_accept_aside, batch, header, config, now, budget)) from None
            budget.left = 0
        raise AppendRefused(error_codes.INVALID_RECORD, str(problem)) from problem
    return stamped(batch, header, config, now)


def _accept_aside(
    batch: Buffer, header: BatchHeader, config: LogConfig, now: int, budget: DecompressionBudget
) -> Accepted:
    budget.at_once, before = LIMIT, budget.at_once
    try:
        return accept(batch, header, config, now, budget)
    finally:
        budget.at_once = before


def stamped(batch: Buffer, header: BatchHeader, config: LogConfig, now: int) -> Accepted:
    """The batch as it is, or with the append time if the topic has LogAppendTime."""
    if config.timestamp_type == APPEND_TIME:
        return _with_timestamp(batch, APPEND_TIME, now)
    return batch, header.max_timestamp


def _is_plain(header: BatchHeader, scan: Scan, config: LogConfig, now: int) -> bool:
    """The common case of a batch that was read through, decided in one step: no record is to blame,
    and nothing is rewritten. The checks below would come to the same result."""
    return (
        scan.max_timestamp == header.max_timestamp
        and now - scan.min_timestamp <= config.message_timestamp_before_max_ms
        and _is_plain_header(header, config, now)
    )


def _is_plain_header(header: BatchHeader, config: LogConfig, now: int) -> bool:
    """As `_is_plain`, as far as the header shows."""
    latest = header.max_timestamp
    return (
        config.keeps_plain
        and not header.attributes & (COMPRESSION_MASK | APPEND_TIME_FLAG)
        and latest - now <= config.message_timestamp_after_max_ms
        and now - latest <= config.message_timestamp_before_max_ms
        and latest >= NO_TIMESTAMP
    )


def _must_be_read(header: BatchHeader, config: LogConfig, now: int) -> bool:
    if config.compacts or config.conditional or header.attributes & APPEND_TIME_FLAG:
        return True
    if config.target_codec is not None and config.target_codec != header.compression:
        return True
    if config.timestamp_type == APPEND_TIME:
        return False
    latest = header.max_timestamp
    return (
        latest - now > config.message_timestamp_after_max_ms
        or latest < header.base_timestamp
        or config.message_timestamp_before_max_ms != UNBOUNDED
    )


def _follow(batch: Buffer, header: BatchHeader, config: LogConfig, limit: int) -> int:
    """Follows the lengths of the records, and returns how many bytes were decompressed."""
    if not header.compression:
        follow(batch, HEADER_SIZE, header.size, header.count)
        return 0
    body = body_of(batch, 0, header, limit)
    follow(body, 0, len(body), header.count, config.max_decompressed_message_bytes)
    return len(body)


def follow(data: Buffer, position: int, end: int, count: int, longest: int = UNLIMITED) -> None:
    """Follows the lengths of `count` records from `position`; it takes about 0.1 us for each.
    InvalidRecord when they do not lead to `end`, or when one is longer than `longest`."""
    try:
        for _ in range(count):
            size = data[position]
            position += 1
            if size > 127:
                size += (data[position] << 7) - 128
                position += 1
                if size > 16383:
                    size, position = _long(data, position - 2)
            if size & 1 or size >> 1 > longest:
                raise InvalidRecord(f"a record of {(size >> 1) ^ -(size & 1)} bytes", offset=position)
            position += size >> 1
    except IndexError:
        position = end + 1
    if position != end:
        raise InvalidRecord(f"{count} records do not fill the batch, or do not fit into it", offset=min(position, end))


def _long(data: Buffer, position: int) -> tuple[int, int]:
    """Reads a varint of more than two bytes. Returns it, still zigzag encoded, and its end."""
    value = 0
    for shift in range(0, 35, 7):
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
    raise InvalidRecord("a record length of more than five bytes", offset=position)


def _check_records(batch: Buffer, header: BatchHeader, scan: Scan, config: LogConfig, now: int) -> None:
    if header.compression and config.max_decompressed_message_bytes < UNLIMITED:
        follow(scan.body, 0, len(scan.body), header.count, config.max_decompressed_message_bytes)
    if not _suspicious(header, scan, config, now):
        return
    records = records_of(batch, 0, header, check_crc=False)
    blamed = [(index, *error) for index, record in enumerate(records) if (error := _error(record, header, config, now))]
    if blamed:
        code = max((code for _, code, _ in blamed), key=_PRECEDENCE.index)
        errors = [RecordError(index, message) for index, _, message in blamed]
        raise AppendRefused(
            code, f"{len(errors)} of {len(records)} records cannot be taken: {errors[0].message}", errors
        )


def _suspicious(header: BatchHeader, scan: Scan, config: LogConfig, now: int) -> bool:
    """Whether any record may be to blame. May be true although none is, for a record without a
    timestamp."""
    if config.compacts and scan.first_keyless >= 0:
        return True
    lowest, highest = scan.min_timestamp, scan.max_timestamp
    if header.attributes & APPEND_TIME_FLAG:
        lowest = highest = header.max_timestamp
        if config.timestamp_type == APPEND_TIME or highest == NO_TIMESTAMP:
            return True
    return config.timestamp_type == CREATE_TIME and _is_out_of_range(lowest, highest, config, now)


def _is_out_of_range(lowest: int, highest: int, config: LogConfig, now: int) -> bool:
    return (
        now - lowest > config.message_timestamp_before_max_ms or highest - now > config.message_timestamp_after_max_ms
    )


def _error(record: Record, header: BatchHeader, config: LogConfig, now: int) -> tuple[int, str] | None:
    """The problem of one record, and its error code."""
    if config.compacts and record.key is None:
        return error_codes.INVALID_RECORD, "a compacted topic takes no record without a key"
    timestamp = record.timestamp
    if config.timestamp_type == CREATE_TIME and timestamp != NO_TIMESTAMP:
        if _is_out_of_range(timestamp, timestamp, config, now):
            bounds = f"[{now - config.message_timestamp_before_max_ms}, {now + config.message_timestamp_after_max_ms}]"
            return error_codes.INVALID_TIMESTAMP, f"timestamp {timestamp} lies outside of {bounds}"
    elif header.attributes & APPEND_TIME_FLAG:
        return error_codes.INVALID_TIMESTAMP, "a producer does not set LogAppendTime"
    return None


def _rewritten(batch: Buffer, header: BatchHeader, scan: Scan, config: LogConfig, now: int) -> Accepted:
    """A batch that was read through, as it is to be stored: codec, offsets and timestamp as the
    topic demands."""
    codec = header.compression if config.target_codec is None else config.target_codec
    sets_append_time = header.attributes & APPEND_TIME_FLAG
    timestamp = max(NO_TIMESTAMP, header.max_timestamp if sets_append_time else scan.max_timestamp)
    if config.timestamp_type == APPEND_TIME:
        timestamp = now
    if codec == header.compression:
        return _in_place(batch, header, scan, config.timestamp_type, timestamp)
    new_header = copy(header)
    new_header.attributes = (
        header.attributes & TRANSACTIONAL_FLAG | codec | (APPEND_TIME_FLAG if config.timestamp_type else 0)
    )
    new_header.max_timestamp = timestamp
    body = scan.body
    if sets_append_time or not scan.consecutive:
        body, new_header.base_timestamp = _renumbered(batch, header)
    stored = wrap_body(new_header, body, level=config.target_level)
    check_size(len(stored), config)
    return stored, timestamp


def _in_place(batch: Buffer, header: BatchHeader, scan: Scan, timestamp_type: int, timestamp: int) -> Accepted:
    """Stores the bytes of the records as they are. Compressed records must have the offsets under
    which they are stored; Kafka fails on others without a message."""
    if header.compression and not scan.consecutive:
        raise AppendRefused(
            error_codes.UNKNOWN_SERVER_ERROR, "the offsets of compressed records do not follow one another"
        )
    if timestamp == header.max_timestamp and timestamp_type == header.timestamp_type:
        return batch, timestamp
    return _with_timestamp(batch, timestamp_type, timestamp)


def _renumbered(batch: Buffer, header: BatchHeader) -> tuple[bytes, int]:
    """The records with consecutive offsets, and with the timestamps that readers saw; and their
    base timestamp."""
    records = records_of(batch, 0, header, check_crc=False)
    for offset, record in enumerate(records, header.base_offset):
        record.offset = offset
    body = encode_body(records, header.base_offset)
    return body.data, body.base_timestamp


def _with_timestamp(batch: Buffer, timestamp_type: int, timestamp: int) -> Accepted:
    stored = bytearray(batch)
    set_max_timestamp(stored, timestamp_type, timestamp)
    return stored, timestamp
