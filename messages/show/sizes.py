"""Reads the four bytes of size before a frame, and detects whether they are there."""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.errors import BadLength, Truncated, UnknownMessage, WireError

from .. import registry

SIZE = 4


class FrameWindow(NamedTuple):
    """The bytes of one frame with its size, the start of its header, how many bytes are missing,
    and the error of the size."""

    data: bytes
    start: int
    missing: int = 0
    error: WireError | None = None


def window(data: Buffer, offset: int, sized: bool) -> FrameWindow:
    """The frame at `offset`. If it is `sized`, its first four bytes are its length; otherwise it
    has all remaining bytes. Positions in the error are relative to `offset`."""
    with memoryview(data) as view:
        rest = len(data) - offset
        if not sized:
            return FrameWindow(bytes(view[offset:]), 0)
        if rest < SIZE:
            return FrameWindow(
                bytes(view[offset:]), 0, error=Truncated("the bytes end inside the size of the frame", offset=0)
            )
        size = int.from_bytes(view[offset : offset + SIZE], "big", signed=True)
        if size < 0:
            return FrameWindow(bytes(view[offset:]), 0, error=BadLength(f"a frame of {size} bytes", offset=0))
        return FrameWindow(bytes(view[offset : offset + SIZE + size]), SIZE, max(SIZE + size - rest, 0))


def is_chain(body: Buffer, offset: int) -> bool:
    """Whether the sizes of consecutive frames lead exactly to the end of `body`."""
    while offset + SIZE <= len(body):
        size = int.from_bytes(body[offset : offset + SIZE], "big", signed=True)
        if size < SIZE:
            return False
        offset += SIZE + size
        if offset == len(body):
            return True
    return False


def is_sized_request(body: Buffer, offset: int) -> bool:
    """Whether each frame begins with its size. This is true if the sizes lead exactly to the end.
    It is also true for an incomplete frame, if a known API key and version follow the size but are
    not at the start."""
    return is_chain(body, offset) or (_is_known(body, offset + SIZE) and not _is_known(body, offset))


def _is_known(body: Buffer, at: int) -> bool:
    key, version = (int.from_bytes(body[at : at + 2], "big", signed=True) for at in (at, at + 2))
    try:
        return len(body) >= at + 4 and registry.api(key).has_version(version)
    except UnknownMessage:
        return False
