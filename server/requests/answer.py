"""What a request is answered with: a response, nothing, or the end of the connection."""

from __future__ import annotations

from typing import Any, NamedTuple

from kafkadouble.messages.message import Message


class Disconnection:
    """The answer that closes the connection without a response."""

    def __repr__(self) -> str:
        return "disconnect"


DISCONNECT = Disconnection()


class Framing(NamedTuple):
    """How a fault rule damages the frame of an answer.

    The frame holds the first `length` bytes (None: all). Its size field says `size` (None: the
    truth). `closes`: the connection is closed behind it. It is sent with `bytes_per_second` (None:
    at once).
    """

    correlation_delta: int = 0
    length: int | None = None
    size: int | None = None
    closes: bool = False
    bytes_per_second: int | None = None


class Altered:
    """An answer that a fault rule or a quota sends in another way: in a damaged frame, or with a
    connection that is muted behind it. `message` is None where the protocol has no response."""

    __slots__ = ("framing", "message", "mute_ms")

    def __init__(self, message: Message | None, framing: Framing | None = None, mute_ms: int = 0) -> None:
        self.message: Any = message
        self.framing, self.mute_ms = framing, mute_ms


Answer = Message | Disconnection | Altered | None
"""None where the protocol has no response (Produce with acks=0)."""


def without_frame(answer: Answer) -> Message | Disconnection | None:
    """The answer for a receiver that gets no frames: a damaged one is as good as none."""
    if isinstance(answer, Altered):
        return answer.message if answer.framing is None else DISCONNECT
    return answer


def message_of(answer: Answer) -> Message | None:
    """What is written of an answer."""
    message = answer.message if isinstance(answer, Altered) else answer
    return message if isinstance(message, Message) else None
