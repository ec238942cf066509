"""What a request is answered with: a response, nothing, or the end of the connection."""

from __future__ import annotations

from kafkadouble.messages.message import Message


class Disconnect:
    """The answer that closes the connection without a response."""

    def __repr__(self) -> str:
        return "disconnect"


DISCONNECT = Disconnect()

Answer = Message | Disconnect | None
"""None where the protocol has no response (Produce with acks=0)."""
