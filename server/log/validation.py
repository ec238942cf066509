"""The checks of a leader before it accepts a batch, in Kafka's order and with Kafka's error codes
(LogValidator, and the checks before it).

A producer gets these error codes; the messages are ours. `inspection` checks the records inside. A
batch of this node was made by trusted code: only its size is checked.
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
    """The header of the only batch that a partition's records may hold. As in Kafka, incomplete
    bytes after it are ignored.

    INVALID_RECORD for no batch, for two batches, and for magic 0 and 1, which no served version of
    Produce carries; CORRUPT_MESSAGE for an impossible size or magic.
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
    is_shown = isinstance(problem, BadLength | UnsupportedMagic)
    return NotOneBatch(error_codes.CORRUPT_MESSAGE, str(problem), is_shown=is_shown)


def _is_followed(batch: Buffer, position: int) -> bool:
    try:
        read_header(batch, position)
    except Truncated:
        return False
    except WireError as problem:
        raise NotOneBatch(error_codes.CORRUPT_MESSAGE, str(problem), is_shown=False) from problem
    return True


def check_produced(batch: Buffer, header: BatchHeader, config: LogConfig) -> None:
    """Raises AppendRefused unless the header and the checksum of a client's batch are
    acceptable."""
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
    """Checks `max.message.bytes`. It bounds a whole batch, compressed as it is."""
    if size > config.max_message_bytes:
        raise AppendRefused(
            error_codes.MESSAGE_TOO_LARGE,
            f"a batch of {size} bytes, where max.message.bytes is {config.max_message_bytes}",
        )


def check_fits_segment(size: int, config: LogConfig) -> None:
    """Checks `segment.bytes`: a batch is never split over two segments."""
    if size > config.segment_bytes:
        raise AppendRefused(
            error_codes.RECORD_LIST_TOO_LARGE, f"a batch of {size} bytes, where segment.bytes is {config.segment_bytes}"
        )


MOST_RECORDS, SMALLEST = 250_000, 7
"""A compressed batch has at most so many records, or as many as would fit uncompressed into its
bytes, at the smallest size. Three kilobytes of zstd can hold 15 million records: gigabytes of
objects, as soon as one lookup by timestamp decodes them."""


def _contradiction(header: BatchHeader) -> str | None:
    """Describes what is impossible in a client's header, or not allowed to a client."""
    if header.count <= 0 or header.count != header.last_offset_delta + 1:
        return f"a batch of {header.count} records over {header.last_offset_delta + 1} offsets"
    if header.count > MOST_RECORDS and header.count > header.size // SMALLEST:
        return f"{header.count} records in {header.size} bytes"
    if header.attributes & CONTROL_FLAG:
        return "clients do not write control records"
    if header.producer_id >= 0 and header.base_sequence < 0:
        return f"sequence {header.base_sequence} from producer {header.producer_id}"
    return None
