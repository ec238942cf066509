"""How many elements a request may have, in its header and body together. How large it may be in
bytes, `socket.request.max.bytes` says.
"""

from __future__ import annotations

from kafkadouble.messages.elements import exceed
from kafkadouble.messages.headers import RequestHead
from kafkadouble.messages.message import Message

MOST_ELEMENTS = 50_000
"""Each element takes at least one byte, and may become an object of a hundred: without a bound 100 MB
of empty names would take some 4 GB, and the loop for a minute."""


def has_too_many(cls: type[Message], frame: bytes, head: RequestHead) -> bool:
    """Whether the tagged fields of the header and the elements of the body are more than a request
    may have. Nothing is decoded for it; a frame of fewer bytes cannot have so many."""
    left = MOST_ELEMENTS - head.tags
    return len(frame) > left and exceed(cls, frame, head.api_version, head.body_offset, left)
