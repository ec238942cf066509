"""The bytes of an answer whose frame a fault rule damages."""

from __future__ import annotations

import struct
from typing import Any

from kafkadouble.messages import headers

from ..requests.answer import Altered, Framing
from ..requests.request import Request

GAP_MS = 50
"""The pause between the pieces of a frame that is sent slowly."""

SIZE = struct.Struct(">i")


def pieces_of(request: Request[Any], answer: Altered) -> tuple[list[bytes], int]:
    """The frame in the pieces in which it is sent, and the pause between them in ms."""
    framing = answer.framing or Framing()
    correlation_id = _wrapped(request.correlation_id + framing.correlation_delta)
    written = headers.write_response(answer.message, correlation_id, request.api_key, request.version)
    frame = _damaged(b"".join(written), framing)
    if framing.bytes_per_second is None:
        return [frame], 0
    step = max(1, framing.bytes_per_second * GAP_MS // 1000)
    return [frame[at : at + step] for at in range(0, len(frame), step)], max(GAP_MS, 1000 // framing.bytes_per_second)


def _damaged(frame: bytes, framing: Framing) -> bytes:
    if framing.closes:
        return frame[: framing.length]
    body = frame[SIZE.size :][: framing.length]
    size = len(body) if framing.size is None else framing.size
    return SIZE.pack(min(size, 2**31 - 1)) + body


def _wrapped(number: int) -> int:
    """As an int32."""
    return (number + 2**31) % 2**32 - 2**31
