"""What a leader demands of a batch before it takes it, in Kafka's order and with Kafka's error codes (`LogValidator` and the checks before it).

Every error code here is what a producer gets; the messages are ours. The records inside are looked at by `inspection`. A batch of our own
node has been made by code that is trusted: only its size is checked.
"""

from kafkadouble.messages import error_codes
from kafkadouble.wire.batch import BatchHeader, check_crc, read_header
from kafkadouble.wire.batch_header import COMPRESSION_MASK, CONTROL_FLAG
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.compression import CODECS
from kafkadouble.wire.errors import BadLength, CorruptBatch, Truncated, UnsupportedMagic, WireError

from .config import LogConfig
from .refusals import AppendRefused, NotOneBatch


def sole_batch(batch: Buffer) -> BatchHeader:
    """The header of the one batch that a partition's records must be; incomplete bytes after it are passed over, as Kafka does.

    INVALID_RECORD for none, for two, and for magic 0 and 1, which no served version of Produce carries; CORRUPT_MESSAGE for sizes and magics
    that cannot be.
    """
    try:
        header = read_header(batch)
    except WireError as problem:
        raise _unreadable(problem) from problem
    if header.magic != 2:
        raise NotOneBatch(error_codes.INVALID_RECORD, f"a record batch of magic {header.magic}, where only 2 is taken")
    if header.size < len(batch) and _is_followed(batch, header.size):
        raise NotOneBatch(error_codes.INVALID_RECORD, "more than one record batch for a partition")
    return header


def _unreadable(problem: WireError) -> NotOneBatch:
    if isinstance(problem, Truncated):
        return NotOneBatch(error_codes.INVALID_RECORD, "no whole record batch")
    told = isinstance(problem, BadLength | UnsupportedMagic)
    return NotOneBatch(error_codes.CORRUPT_MESSAGE, str(problem), told=told)


def _is_followed(batch: Buffer, position: int) -> bool:
    try:
        read_header(batch, position)
    except Truncated:
        return False
    except WireError as problem:
        raise NotOneBatch(error_codes.CORRUPT_MESSAGE, str(problem), told=False) from problem
    return True


def check_produced(batch: Buffer, header: BatchHeader, config: LogConfig) -> None:
    """Raise AppendRefused unless a client's batch is one that the log can take, as far as its header and checksum tell."""
    if header.base_offset != 0 and not config.conditional:
        raise AppendRefused(
            error_codes.INVALID_RECORD, f"a produced batch has base offset 0, this one {header.base_offset}"
        )
    if header.size > config.max_message_bytes:
        check_size(header.size, config)
    try:
        check_crc(batch, 0, header)
    except CorruptBatch as problem:
        raise AppendRefused(error_codes.CORRUPT_MESSAGE, str(problem)) from problem
    if header.attributes & COMPRESSION_MASK not in CODECS:
        raise AppendRefused(error_codes.UNKNOWN_SERVER_ERROR, f"no compression codec has the id {header.compression}")
    if contradiction := _contradiction(header):
        raise AppendRefused(error_codes.INVALID_RECORD, contradiction)


def check_size(size: int, config: LogConfig) -> None:
    """`max.message.bytes` binds a whole batch, compressed as it is."""
    if size > config.max_message_bytes:
        raise AppendRefused(
            error_codes.MESSAGE_TOO_LARGE,
            f"a batch of {size} bytes, where max.message.bytes is {config.max_message_bytes}",
        )


def check_fits_segment(size: int, config: LogConfig) -> None:
    """A batch is never split over segments."""
    if size > config.segment_bytes:
        raise AppendRefused(
            error_codes.RECORD_LIST_TOO_LARGE, f"a batch of {size} bytes, where segment.bytes is {config.segment_bytes}"
        )


MOST_RECORDS, SMALLEST = 250_000, 7
"""A compressed batch has so many records at most, or as many of the smallest size as its bytes could hold if they were not compressed. Three
kilobytes of zstd can hold 15 million: gigabytes, as soon as somebody looks for a timestamp among them."""


def _contradiction(header: BatchHeader) -> str | None:
    """What a client's header says that cannot be, or that a client must not say."""
    if header.count <= 0 or header.count != header.last_offset_delta + 1:
        return f"a batch of {header.count} records over {header.last_offset_delta + 1} offsets"
    if header.count > MOST_RECORDS and header.count > header.size // SMALLEST:
        return f"{header.count} records in {header.size} bytes"
    if header.attributes & CONTROL_FLAG:
        return "clients do not write control records"
    if header.producer_id >= 0 and header.base_sequence < 0:
        return f"sequence {header.base_sequence} from producer {header.producer_id}"
    return None
