"""Bounds the number of elements of a request, in its header and body together. Its size in bytes is
bounded by `socket.request.max.bytes`.
"""

from __future__ import annotations

from kafkadouble.messages.elements import exceed
from kafkadouble.messages.headers import RequestHead
from kafkadouble.messages.message import Message

MOST_ELEMENTS = 50_000
"""An element takes at least one byte of the request, and can become an object of a hundred bytes.
Without a bound, a request of 100 MB with empty names would take about 4 GB of memory, and would
keep the loop busy for a minute.
"""


def has_too_many(cls: type[Message], frame: bytes, head: RequestHead) -> bool:
    """Whether the header's tagged fields and the body's elements are more than `MOST_ELEMENTS`.

    It decodes nothing, and returns at once for a frame that is too short to have so many.
    """
    left = MOST_ELEMENTS - head.tags
    return len(frame) > left and exceed(cls, frame, head.api_version, head.body_offset, left)
