"""Snappy as Kafka uses it: writes the framing of xerial (snappy-java), and reads that framing and
raw blocks.

    header   82 "SNAPPY" 00, version int32, oldest compatible version int32
    chunks   length int32, then a raw snappy block that holds at most 32 KiB when Kafka writes it

Only the chunk lengths are big-endian framing; a raw block starts with its uncompressed length,
which is compared with the limit first. snappy-java checks the version in the header of a stream
that follows another, but not in the first; this reader does the same.
"""

from struct import Struct

from .checksum import Buffer
from .errors import BadCompression, TooLarge

_HEADER = b"\x82SNAPPY\x00" + b"\x00\x00\x00\x01" * 2
_CHUNK = 32768  # snappy-java's default block, with which Kafka writes
_INT = Struct(">i")
_VERSION = slice(8, 12)


def compress(data: Buffer, level: int) -> bytes:
    """`data` in chunks after the header; snappy has no levels, so `level` is ignored."""
    import cramjam

    parts: list[bytes] = [_HEADER]
    with memoryview(data) as view:
        for start in range(0, len(view), _CHUNK):
            block = bytes(cramjam.snappy.compress_raw(view[start : start + _CHUNK]))
            parts += (_INT.pack(len(block)), block)
    return b"".join(parts)


def decompress(data: Buffer, limit: int) -> bytes:
    """The content of the chunks, or of the single raw block. Raises BadCompression, or TooLarge for
    more than `limit` bytes."""
    with memoryview(data) as view:
        if len(view) < len(_HEADER) or view[:8] != _HEADER[:8]:
            return _block(view, 0, limit)
        return _chunks(view, limit)


def _chunks(view: memoryview, limit: int) -> bytes:
    parts: list[bytes] = []
    room, position, end = limit, len(_HEADER), len(view)
    while end - position >= 4:  # fewer bytes than a length are ignored, as snappy-java ignores them
        if view[position : position + 8] == _HEADER[:8]:  # streams may be concatenated
            _check_version(view, position)
            position += len(_HEADER)
            continue
        (size,) = _INT.unpack_from(view, position)
        if not 0 <= size <= end - position - 4:
            raise BadCompression(f"snappy: a chunk of {size} bytes", offset=position)
        part = _block(view[position + 4 : position + 4 + size], position + 4, room)
        parts.append(part)
        room -= len(part)
        position += 4 + size
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _check_version(view: memoryview, position: int) -> None:
    version = view[position:][_VERSION]
    if len(version) < 4 or _INT.unpack(version)[0] < 1:
        raise BadCompression("snappy: a header of no known version", offset=position)


def _block(block: memoryview, offset: int, room: int) -> bytes:
    import cramjam

    try:
        size = cramjam.snappy.decompress_raw_len(block)
        if size > room:
            raise TooLarge(f"snappy: a block of {size} bytes where {room} are left", offset=offset)
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as problem:
        raise BadCompression(f"snappy: {problem}", offset=offset) from None
