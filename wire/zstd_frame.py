"""Zstandard (RFC 8878): writes one frame, and reads any number of frames, with or without content
size.

The reader of the library stops silently where bytes are missing, and a content size may be wrong.
So the headers and block sizes of every frame are walked first, without decoding. A single frame
whose content fits its content size, or a guess, is then read by one call, in half of the time or
less. The content of all others is first measured in pieces up to the limit, and then read.
"""

from typing import Any

from .checksum import Buffer
from .errors import BadCompression, TooLarge

_MAGIC = 0xFD2FB528
_SKIPPABLE = 0x184D2A50  # to 0x184D2A5F
_PIECE = 131072  # the largest block of the format
_RLE, _RESERVED = 1, 3
_GUESS, _LEAST_GUESS = (
    16,
    65536,
)  # how often its size a frame holds, which does not say; and the bytes to allow for at least

# unused decompressors: making one takes as long as reading a small batch
_spare: list[Any] = []


def compress(data: Buffer, level: int) -> bytes:
    """`data` as one frame without a content size, as Kafka's streaming writer makes it."""
    import zstandard

    return zstandard.ZstdCompressor(level=level, write_content_size=False).compress(data)


def decompress(data: Buffer, limit: int) -> bytes:
    """The content of all frames. Raises BadCompression, or TooLarge for more than `limit` bytes."""
    import zstandard

    with memoryview(data) as view:
        if _check_whole(view) == 1 and (whole := _at_once(view, limit)) is not None:
            return whole
        try:
            return _read(view, _size(view, limit))
        except zstandard.ZstdError as problem:
            raise BadCompression(f"zstd: {problem}") from None


def _size(view: memoryview, limit: int) -> int:
    """The decompressed size of all frames, measured without keeping the content, so that content
    that is too large takes no memory."""
    import zstandard

    size = 0
    with zstandard.ZstdDecompressor().stream_reader(view, read_across_frames=True) as reader:
        while part := len(reader.read(_PIECE)):
            size += part
            if size > limit:
                raise TooLarge(f"zstd: more than {limit} bytes")
    return size


def _read(view: memoryview, size: int) -> bytes:
    import zstandard

    with zstandard.ZstdDecompressor().stream_reader(view, read_across_frames=True) as reader:
        whole: bytes = reader.read(size)
        return whole


def _at_once(view: memoryview, limit: int) -> bytes | None:
    """The content of one frame. None when it is larger than the guess, or when the library refuses
    it."""
    import zstandard

    try:
        decompressor = _spare.pop()  # two threads never get the same one
    except IndexError:
        decompressor = zstandard.ZstdDecompressor()
    try:
        if zstandard.frame_content_size(view) > limit:
            return None
        room = min(limit, max(_LEAST_GUESS, len(view) * _GUESS))
        whole: bytes = decompressor.decompress(
            view, max_output_size=room
        )  # a size that the frame says goes before `room`
    except zstandard.ZstdError:
        return None
    finally:
        _spare.append(decompressor)
    return whole


def _check_whole(view: memoryview) -> int:
    """The number of frames. Raises BadCompression when the bytes are anything but complete
    frames."""
    position, end, frames = 0, len(view), 0
    while position < end:
        frames += 1
        magic = _little(view, position, 4)
        if magic == _MAGIC:
            position = _frame_end(view, position)
        elif magic & ~15 == _SKIPPABLE:
            position += 8 + _little(view, position + 4, 4)
        else:
            raise BadCompression("zstd: no frame starts here", offset=position)
    if position > end:
        raise BadCompression("zstd: the bytes end inside a frame", offset=end)
    return frames


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
