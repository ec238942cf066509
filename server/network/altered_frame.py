"""The bytes of an answer whose frame a fault rule damages."""

from __future__ import annotations

import struct

from ..requests.answer import Framing

GAP_MS = 50
"""The pause between the pieces of a frame that is sent slowly."""

SIZE = struct.Struct(">i")
"""Of the size of a frame, and of the correlation id behind it."""


def pieces_of(frame: bytes, framing: Framing | None) -> tuple[list[bytes], int]:
    """The frame in the pieces in which it is sent, and the pause between them in ms."""
    if framing is None:
        return [frame], 0
    frame = _damaged(_correlated(frame, framing.correlation_delta), framing)
    if framing.bytes_per_second is None:
        return [frame], 0
    step = max(1, framing.bytes_per_second * GAP_MS // 1000)
    return [frame[at : at + step] for at in range(0, len(frame), step)], max(GAP_MS, 1000 // framing.bytes_per_second)


def _correlated(frame: bytes, delta: int) -> bytes:
    """The frame with another correlation id, which stands behind its size."""
    if not delta:
        return frame
    (correlation_id,) = SIZE.unpack_from(frame, SIZE.size)
    # Wrapped, as an int32.
    return frame[: SIZE.size] + SIZE.pack((correlation_id + delta + 2**31) % 2**32 - 2**31) + frame[2 * SIZE.size :]


def _damaged(frame: bytes, framing: Framing) -> bytes:
    if framing.closes:
        return frame[: framing.length]
    body = frame[SIZE.size :][: framing.length]
    size = len(body) if framing.size is None else framing.size
    return SIZE.pack(min(size, 2**31 - 1)) + body
