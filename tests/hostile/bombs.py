"""Record batches that are small on the wire and large when they are decompressed."""

from __future__ import annotations

import zlib

import cramjam
import zstandard

from kafkadouble.wire import compression
from kafkadouble.wire.batch import encode_batch, seal
from kafkadouble.wire.record import Record

HEADER = 61
MB = 1 << 20
CODECS = {"gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}


def zeros(codec: int, size: int) -> bytes:
    if codec == CODECS["gzip"]:
        return zlib.compress(bytes(size), 9, wbits=31)
    if codec == CODECS["snappy"]:
        return bytes(cramjam.snappy.compress_raw(bytes(size)))
    if codec == CODECS["lz4"]:
        return compression.compress(codec, bytes(size))
    return zstandard.ZstdCompressor().compress(bytes(size))


def bomb(codec: int, size: int, count: int = 1) -> bytes:
    """A batch whose header is in order, and whose body is that many zeros."""
    header = encode_batch([Record(offset, 0, None, b"", ()) for offset in range(count)], compression=codec)[:HEADER]
    return sealed(header + zeros(codec, size))


def sealed(batch: bytearray) -> bytes:
    """With its length and its checksum."""
    batch[8:12] = (len(batch) - 12).to_bytes(4)
    seal(batch)
    return bytes(batch)
