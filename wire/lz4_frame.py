"""LZ4 frames as Kafka reads and writes them: independent blocks only.

Writing: blocks of 64 KiB, no content size, a checksum of the header, and checksums of blocks for
levels above the default. Reading: any block size. A block checksum is verified. A content size and
a content checksum are allowed and ignored. An empty block is the end mark, stored or not, and bytes
after it are ignored. **A frame of linked blocks is refused.** This file walks the blocks itself,
because the frame readers of the libraries accept linked blocks and verify checksums that Kafka
ignores.
"""

from collections.abc import Iterator

from .checksum import Buffer
from .errors import BadCompression, TooLarge

_MAGIC = b"\x04\x22\x4d\x18"
_END_MARK = bytes(4)
_BLOCK = 65536
_STORED = 0x80000000  # set in a block's length when the block is not compressed
_CONTENT_CHECKSUM, _CONTENT_SIZE, _BLOCK_CHECKSUM, _INDEPENDENT = 0x04, 0x08, 0x10, 0x20
_VERSION_1 = 0x40
_FAST = 9  # Kafka's default level uses the fast compressor, other levels use the "high" compressor
_HIGH, _HIGHEST = 3, 12  # the library's levels of the "high" compressor; Kafka's levels are 1 to 17
_MAX_RATIO = 255  # the largest number of output bytes for one byte of a block


def compress(data: Buffer, level: int) -> bytes:
    """`data` as one frame; `level` is Kafka's level (1 to 17)."""
    import cramjam

    if level != _FAST:
        packer = cramjam.lz4.Compressor(
            level=max(_HIGH, min(level, _HIGHEST)), content_checksum=False, block_linked=False
        )
        packer.compress(data)
        return bytes(packer.finish())
    parts: list[bytes] = [_frame_header(_VERSION_1 | _INDEPENDENT, 0x40)]
    with memoryview(data) as view:
        for start in range(0, len(view), _BLOCK):
            plain = view[start : start + _BLOCK]
            block = bytes(cramjam.lz4.compress_block(plain, store_size=False))
            if len(block) < len(plain):
                parts += (len(block).to_bytes(4, "little"), block)
            else:
                parts += ((len(plain) | _STORED).to_bytes(4, "little"), bytes(plain))
    parts.append(_END_MARK)
    return b"".join(parts)


def decompress(data: Buffer, limit: int, *, any_header_checksum: bool = False) -> bytes:
    """The content of the frame. Raises BadCompression, or TooLarge for more than `limit` bytes.
    `any_header_checksum` accepts messages of magic 0, whose old writers computed the checksum
    wrongly."""
    parts: list[bytes] = []
    room = limit
    with memoryview(data) as view:
        for part in _blocks(view, any_header_checksum):
            room -= len(part)
            if room < 0:
                raise TooLarge(f"lz4: more than {limit} bytes")
            parts.append(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _blocks(view: memoryview, any_header_checksum: bool) -> Iterator[bytes]:
    flags, block_size, position = _read_header(view, any_header_checksum)
    checksum = 4 if flags & _BLOCK_CHECKSUM else 0
    scratch = bytearray()
    while size := (length := _little(view, position)) & ~_STORED:
        stored = length & _STORED
        start, position = position + 4, position + 4 + size + checksum
        if size > block_size or position > len(view):
            raise BadCompression(f"lz4: a block of {size} bytes", offset=start - 4)
        room = min(block_size, size * _MAX_RATIO)
        if len(scratch) < room:
            scratch = bytearray(room)
        if checksum:
            yield _checked_block(view, start - 4, position, scratch)
        elif stored:
            yield bytes(view[start:position])
        else:
            yield _block(view, start, position, scratch)
    if flags & _CONTENT_CHECKSUM:
        _little(view, position + 4)


def _block(view: memoryview, start: int, end: int, scratch: bytearray) -> bytes:
    import cramjam

    try:
        size = cramjam.lz4.decompress_block_into(view[start:end], scratch, output_len=len(scratch))
    except cramjam.DecompressionError as problem:
        raise BadCompression(f"lz4: {problem}", offset=start) from None
    return bytes(memoryview(scratch)[:size])


def _checked_block(view: memoryview, start: int, end: int, scratch: bytearray) -> bytes:
    """Reads a block with its checksum: the frame reader of the library verifies it, in a frame
    built around this block."""
    import cramjam

    frame = _frame_header(_VERSION_1 | _INDEPENDENT | _BLOCK_CHECKSUM, 0x70) + bytes(view[start:end]) + _END_MARK
    try:
        size = cramjam.lz4.decompress_into(frame, scratch)
    except (cramjam.DecompressionError, OSError) as problem:
        raise BadCompression(f"lz4: {problem}", offset=start) from None
    return bytes(memoryview(scratch)[:size])


def _read_header(view: memoryview, any_checksum: bool) -> tuple[int, int, int]:
    """The flags, the largest size of a block, and the position of the first block."""
    if len(view) < 7 or view[:4] != _MAGIC:
        raise BadCompression("lz4: no frame starts here", offset=0)
    flags, sizes = view[4], view[5]
    if flags & 0xC3 != _VERSION_1:
        raise BadCompression("lz4: a frame of an unknown version, or with reserved flags", offset=4)
    if not flags & _INDEPENDENT:
        raise BadCompression("lz4: linked blocks, which Kafka does not read", offset=4)
    if sizes & 0x8F or sizes < 0x40:
        raise BadCompression(f"lz4: an unknown block size {sizes:#04x}", offset=5)
    end = 14 if flags & _CONTENT_SIZE else 6
    if len(view) <= end:
        raise BadCompression("lz4: the bytes end inside the header", offset=len(view))
    if not any_checksum and view[end] != _header_checksum(bytes(view[4:end])):
        raise BadCompression("lz4: the header's checksum does not match", offset=end)
    return flags, 1 << (8 + 2 * (sizes >> 4)), end + 1


def _frame_header(flags: int, sizes: int) -> bytes:
    descriptor = bytes((flags, sizes))
    return _MAGIC + descriptor + bytes((_header_checksum(descriptor),))


def _header_checksum(descriptor: bytes) -> int:
    return xxh32_short(descriptor) >> 8 & 0xFF


def _little(view: memoryview, position: int) -> int:
    data = view[position : position + 4]
    if len(data) < 4:
        raise BadCompression("lz4: the bytes end before the frame does", offset=len(view))
    return int.from_bytes(data, "little")


def xxh32_short(data: bytes) -> int:
    """XXH32 with seed 0 of fewer than 16 bytes, which is enough for a frame header."""
    mask, prime1, prime2, prime3, prime4, prime5 = 0xFFFFFFFF, 2654435761, 2246822519, 3266489917, 668265263, 374761393
    state = prime5 + len(data)
    words = len(data) // 4 * 4
    for position in range(0, words, 4):
        state = (state + int.from_bytes(data[position : position + 4], "little") * prime3) & mask
        state = ((state << 17 | state >> 15) & mask) * prime4 & mask
    for byte in data[words:]:
        state = (state + byte * prime5) & mask
        state = ((state << 11 | state >> 21) & mask) * prime1 & mask
    state = (state ^ state >> 15) * prime2 & mask
    state = (state ^ state >> 13) * prime3 & mask
    return state ^ state >> 16
