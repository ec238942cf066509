"""The interface of the socket that a connection uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Buffers = Sequence[bytes | bytearray | memoryview]


class Line(Protocol):
    """The carrier of the bytes of a connection: a socket, or a test."""

    def write(self, buffers: Buffers) -> None:
        """Sends the buffers of one answer."""

    def close(self) -> None:
        """Ends the connection once what was written is out."""

    def read_on(self, reads_on: bool, /) -> None:
        """Reads more bytes, or stops reading; the same again changes nothing."""

    def others_first(self) -> None:
        """Calls `pump` after other connections have had their turn."""

    def turn_is_over(self, ahead: bool) -> bool:
        """Whether requests have been begun for so long that other work has its turn.

        Requests that peers sent `ahead`, before they had their answers, have a turn of their own: a
        peer that sends one request at a time does not wait for them.
        """
        ...


class EndedLine:
    """The line of a connection whose socket is gone.

    The connection does not refer to what refers to it, then: both, with the buffers of TLS, are
    freed at once and not by a garbage collection.
    """

    def write(self, buffers: Buffers) -> None: ...

    def close(self) -> None: ...

    def read_on(self, reads_on: bool, /) -> None: ...

    def others_first(self) -> None: ...

    def turn_is_over(self, ahead: bool) -> bool:
        return True


ENDED_LINE = EndedLine()
