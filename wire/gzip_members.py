"""Gzip (RFC 1952): writes one member, and reads any number of members.

Bytes after a member that do not start another are ignored, as Java's reader does. Small members are
fed in small pieces, so that many of them cost time in proportion to their bytes.
"""

from .checksum import Buffer
from .errors import BadCompression, TooLarge

_WITH_GZIP_HEADER = 31  # zlib's wbits: the largest window, and a gzip header and trailer
_START = b"\x1f\x8b\x08"
_HEADER_SIZE = 10
_PIECE = 512


def compress(data: Buffer, level: int) -> bytes:
    """`data` as one member; levels are zlib's, -1 is its default."""
    import zlib

    packer = zlib.compressobj(level, zlib.DEFLATED, _WITH_GZIP_HEADER)
    return packer.compress(data) + packer.flush()


def decompress(data: Buffer, limit: int) -> bytes:
    """The content of all members. Raises BadCompression, or TooLarge for more than `limit`
    bytes."""
    parts: list[bytes] = []
    room, position = limit, 0
    with memoryview(data) as view:
        while position == 0 or (view[position : position + 3] == _START and len(view) - position >= _HEADER_SIZE):
            position, room = _member(view, position, room, parts)
            if room < 0:
                raise TooLarge(f"gzip: more than {limit} bytes")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _member(view: memoryview, position: int, room: int, parts: list[bytes]) -> tuple[int, int]:
    """Appends the content of the member at `position`. Returns the position after it, and how many
    bytes are left of the limit (negative: the content is too large)."""
    import zlib

    member = zlib.decompressobj(_WITH_GZIP_HEADER)
    step = _PIECE if position else len(view)
    while not member.eof and room >= 0:
        piece = view[position : position + step]
        if not piece:
            raise BadCompression("gzip: the bytes end inside a member", offset=position)
        try:
            part = member.decompress(piece, room + 1)
        except zlib.error as problem:
            raise BadCompression(f"gzip: {problem}", offset=position) from None
        position += len(piece) - len(member.unused_data)
        room -= len(part)
        step += step
        if part:
            parts.append(part)
    return position, room
