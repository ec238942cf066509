"""Gzip (RFC 1952): writes one member, and reads any number of members as Java's GZIPInputStream
does, through which Kafka reads.

Rules of that reader. Flags without a meaning are ignored. The bytes after a member are another
member if they begin with a valid header; otherwise they are ignored, and so are up to 18 bytes at
the very end, which could only be a member without content. The reader takes the bytes in pieces, so
where such an end begins depends on where a piece ends. Members are fed in small pieces at first, so
that many of them cost time in proportion to their bytes.
"""

import struct
from typing import Final

from .checksum import Buffer
from .errors import BadCompression, TooLarge

_WITH_GZIP_HEADER = 31  # zlib's wbits: the largest window, and a gzip header and trailer
_RAW = -15  # zlib's wbits: the largest window alone
_MAGIC = b"\x1f\x8b\x08"
_HEADER_CRC, _EXTRA, _NAME, _COMMENT = 2, 4, 8, 16
_FIXED_SIZE, _TRAILER_SIZE = 10, 8
_TRAILER: Final = struct.Struct("<II")
_SMALLEST_MEMBER = 26
"""A trailer, a header and another trailer: with no more bytes than that in its buffer, and no
others behind it, the reader of Java looks for no further member."""
_BUFFER = 8192
"""The buffer of Kafka's reader."""
_PIECE = 512


def compress(data: Buffer, level: int) -> bytes:
    """`data` as one member; levels are zlib's, -1 is its default."""
    import zlib

    packer = zlib.compressobj(level, zlib.DEFLATED, _WITH_GZIP_HEADER)
    return packer.compress(data) + packer.flush()


def decompress(data: Buffer, limit: int) -> bytes:
    """The content of all members. Raises BadCompression, or TooLarge for more than `limit`
    bytes."""
    with memoryview(data) as view:
        reader = _Reader(view, limit)
        start: int | None = _header_end(view, 0)
        while start is not None:
            start = reader.read_member(start)
    return reader.parts[0] if len(reader.parts) == 1 else b"".join(reader.parts)


class _Reader:
    """Reads members one after the other. `_filled` is where the buffer of Java's reader ends."""

    def __init__(self, view: memoryview, limit: int) -> None:
        self._view, self._limit, self._room = view, limit, limit
        self._filled = 0
        self.parts: list[bytes] = []

    def read_member(self, start: int) -> int | None:
        """Reads the member whose header ends at `start`. The position of the end of the next
        member's header, or None if there is no other member."""
        end = self._read_content(start)
        while self._filled < end:
            self._filled = min(max(self._filled, start) + _BUFFER, len(self._view))
        buffered, rest = self._filled - end, len(self._view) - max(self._filled, end + _TRAILER_SIZE)
        if rest <= 0 and buffered <= _SMALLEST_MEMBER:
            return None
        try:
            following = _header_end(self._view, end + _TRAILER_SIZE)
        except BadCompression:
            return None
        if following >= self._filled:
            self._filled = following
        return following

    def _read_content(self, start: int) -> int:
        """Reads the deflated bytes, and checks the trailer behind them. Returns where it begins."""
        import zlib

        member = zlib.decompressobj(_RAW)
        position, step, crc, size = start, _PIECE if self._filled else len(self._view), 0, 0
        while not member.eof:
            piece = self._view[position : position + step]
            if not piece:
                raise BadCompression("gzip: the bytes end inside a member", offset=position)
            try:
                part = member.decompress(piece, self._room + 1)
            except zlib.error as problem:
                raise BadCompression(f"gzip: {problem}", offset=position) from None
            position += len(piece) - len(member.unused_data)
            step += step
            if part:
                self.parts.append(part)
                self._room -= len(part)
                if self._room < 0:
                    raise TooLarge(f"gzip: more than {self._limit} bytes")
                crc, size = zlib.crc32(part, crc), size + len(part)
        trailer = self._view[position : position + _TRAILER_SIZE]
        if len(trailer) < _TRAILER_SIZE:
            raise BadCompression("gzip: the bytes end inside a member", offset=position)
        if _TRAILER.unpack(trailer) != (crc, size & 0xFFFFFFFF):
            raise BadCompression("gzip: the checksum or the size of a member is wrong", offset=position)
        return position


def _header_end(view: memoryview, start: int) -> int:
    """The position of the end of the header of the member at `start`. Raises BadCompression."""
    import zlib

    if len(view) < start + _FIXED_SIZE or view[start : start + len(_MAGIC)] != _MAGIC:
        raise BadCompression("gzip: no member starts here", offset=start)
    flags, end = view[start + 3], start + _FIXED_SIZE
    if flags & _EXTRA:
        end += 2 + int.from_bytes(view[end : end + 2], "little")
    for flag in (_NAME, _COMMENT):
        if flags & flag:
            end = _text_end(view, end)
    if flags & _HEADER_CRC:
        if int.from_bytes(view[end : end + 2], "little") != zlib.crc32(view[start:end]) & 0xFFFF:
            raise BadCompression("gzip: the checksum of a header is wrong", offset=end)
        end += 2
    if end > len(view):
        raise BadCompression("gzip: the bytes end inside a header", offset=start)
    return end


def _text_end(view: memoryview, start: int) -> int:
    """The position after the zero that ends the text at `start`; beyond the view if none does."""
    for at in range(start, len(view), _PIECE):
        found = bytes(view[at : at + _PIECE]).find(0)
        if found >= 0:
            return at + found + 1
    return len(view) + 1
