"""The answer to a request: a response, nothing, or the end of the connection."""

from __future__ import annotations

from typing import Any, NamedTuple

from kafkadouble.messages.message import Message
from kafkadouble.wire.errors import UsageError, WireError


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


class ExactBody:
    """The body of an answer as bytes, which are sent as they are. `message` is what a client of the
    version reads in them, None if they are no answer."""

    __slots__ = ("data", "message")

    def __init__(self, data: bytes, cls: type[Message], version: int) -> None:
        self.data = data
        try:
            self.message: Message | None = cls.decode(data, version)
        except (WireError, UsageError):
            self.message = None

    def parts(self, version: int) -> list[Any]:
        """The bytes, in any version."""
        return [self.data]


class Altered:
    """An answer that a fault rule or a quota sends in another way: in a damaged frame, as exact
    bytes, or with a connection that is muted behind it. `message` is None where the protocol has
    no response."""

    __slots__ = ("framing", "message", "mute_ms")

    def __init__(self, message: Message | ExactBody | None, framing: Framing | None = None, mute_ms: int = 0) -> None:
        self.message: Any = message
        self.framing, self.mute_ms = framing, mute_ms


Answer = Message | Disconnection | Altered | None
"""None where the protocol has no response (Produce with acks=0)."""


def without_frame(answer: Answer) -> Message | Disconnection | None:
    """The answer for a receiver that gets no frames: a damaged one, or bytes that are no answer,
    are as good as none."""
    if not isinstance(answer, Altered):
        return answer
    message = decoded(answer)
    is_lost = answer.framing is not None or (message is None and answer.message is not None)
    return DISCONNECT if is_lost else message


def decoded(answer: Altered) -> Message | None:
    """The content of an answer for a client; None if the client cannot read it."""
    message: Message | None = answer.message.message if isinstance(answer.message, ExactBody) else answer.message
    return message


def message_of(answer: Answer) -> Message | None:
    """The encoded form of an answer."""
    message = answer.message if isinstance(answer, Altered) else answer
    return message if isinstance(message, Message) else None
