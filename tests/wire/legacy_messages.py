"""Messages of the formats before record batches (magic 0 and 1)."""

import zlib
from struct import pack

from kafkadouble.wire.compression import compress


def message(
    offset: int,
    value: bytes | None,
    *,
    key: bytes | None = None,
    magic: int = 1,
    attributes: int = 0,
    timestamp: int = 1000,
) -> bytes:
    body = pack(">bb", magic, attributes) + (pack(">q", timestamp) if magic else b"")
    for field in (key, value):
        body += pack(">i", -1) if field is None else pack(">i", len(field)) + field
    return pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


def wrapper(
    offset: int, *inner: bytes, codec: int = 1, magic: int = 1, attributes: int = 0, timestamp: int = 5000
) -> bytes:
    return message(
        offset, compress(codec, b"".join(inner)), magic=magic, attributes=attributes | codec, timestamp=timestamp
    )
