"""The fields of a batch's header as text."""

from __future__ import annotations

from kafkadouble.wire.batch import APPEND_TIME, BatchHeader, check_crc
from kafkadouble.wire.batch_header import COMPRESSION_MASK
from kafkadouble.wire.compression import codec_name
from kafkadouble.wire.errors import CorruptBatch, WireError

from .text import plain, time_text


def crc_problem(data: bytes, position: int, header: BatchHeader) -> WireError | None:
    """The error of the checksum, or nothing."""
    try:
        check_crc(data, position, header)
    except CorruptBatch as error:
        return error
    return None


def header_text(name: str, value: object, wrong: WireError | None) -> str:
    """A field of the header as text: the meaning of attribute bits, dates, and whether the checksum
    is right."""
    if not isinstance(value, int):
        return plain(value)
    if name == "crc":
        return f"{value:#010x}" + (f" (wrong: {wrong.problem})" if wrong else "")
    if name == "attributes":
        return f"{value:#06x} ({attributes_text(value)})"
    return time_text(value) if name.endswith("timestamp") else str(value)


def attributes_text(attributes: int) -> str:
    """The codec, the timestamp type, and the flags that are set."""
    header = BatchHeader(0, 0, 0, 2, 0, attributes, 0, 0, 0, 0, 0, 0, 0)
    flags = (
        (header.is_transactional, "transactional"), (header.is_control, "control"), (header.has_delete_horizon, "delete horizon"),
    )  # fmt: skip
    words = [
        codec_name(attributes & COMPRESSION_MASK),
        "LogAppendTime" if header.timestamp_type == APPEND_TIME else "CreateTime",
    ]
    return ", ".join(words + [word for is_set, word in flags if is_set])
