"""Zstandard (RFC 8878): one frame is written; any number of frames, with or without content size, is read.

The library's reader ends quietly where bytes are missing, and a content size is only a promise. So the skeleton of every frame is walked
first (headers and block sizes, nothing is decoded), and then the output is read in pieces up to the bound.
"""

from .checksum import Buffer
from .errors import BadCompression, TooLarge

_MAGIC = 0xFD2FB528
_SKIPPABLE = 0x184D2A50  # to 0x184D2A5F
_PIECE = 131072  # the largest block of the format
_RLE, _RESERVED = 1, 3


def compress(data: Buffer, level: int) -> bytes:
    """`data` as one frame without a content size, as Kafka's streaming writer makes it."""
    import zstandard

    return zstandard.ZstdCompressor(level=level, write_content_size=False).compress(data)


def decompress(data: Buffer, limit: int) -> bytes:
    """What all the frames hold. BadCompression; TooLarge beyond `limit` bytes."""
    import zstandard

    with memoryview(data) as view:
        _check_whole(view)
        parts: list[bytes] = []
        room = limit
        try:
            with zstandard.ZstdDecompressor().stream_reader(view, read_across_frames=True) as reader:
                while part := reader.read(min(_PIECE, room + 1)):
                    parts.append(part)
                    room -= len(part)
                    if room < 0:
                        raise TooLarge(f"zstd: more than {limit} bytes")
        except zstandard.ZstdError as problem:
            raise BadCompression(f"zstd: {problem}") from None
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _check_whole(view: memoryview) -> None:
    position, end = 0, len(view)
    while position < end:
        magic = _little(view, position, 4)
        if magic == _MAGIC:
            position = _frame_end(view, position)
        elif magic & ~15 == _SKIPPABLE:
            position += 8 + _little(view, position + 4, 4)
        else:
            raise BadCompression("zstd: no frame starts here", offset=position)
    if position > end:
        raise BadCompression("zstd: the bytes end inside a frame", offset=end)


def _frame_end(view: memoryview, position: int) -> int:
    descriptor = _little(view, position + 4, 1)
    single_segment = descriptor >> 5 & 1
    content_size = (single_segment, 2, 4, 8)[descriptor >> 6]
    dictionary_id = (0, 1, 2, 4)[descriptor & 3]
    position += 5 + (1 - single_segment) + dictionary_id + content_size
    last = 0
    while not last:
        block = _little(view, position, 3)
        last, kind, size = block & 1, block >> 1 & 3, block >> 3
        if kind == _RESERVED:
            raise BadCompression("zstd: a block of the reserved type", offset=position)
        position += 3 + (1 if kind == _RLE else size)
    return position + (descriptor & 4)  # the flag of the checksum is also its size


def _little(view: memoryview, position: int, size: int) -> int:
    data = view[position : position + size]
    if len(data) < size:
        raise BadCompression("zstd: the bytes end inside a frame", offset=len(view))
    return int.from_bytes(data, "little")
