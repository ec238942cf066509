"""Frames: four bytes of length, then that many bytes. A Kafka connection has no other framing.

This file never reads a socket: the caller feeds the bytes as they arrive, in any slicing, and gets
complete frames. Rules: a length is accepted only within a bound. Memory grows with the bytes that
arrived, not with the length that was announced. A byte is copied at most twice.
"""

from .checksum import Buffer
from .errors import BadLength, TooLarge, WireError

MAX_SIZE = 104857600
"""The bound on one frame: the default of Kafka's `socket.request.max.bytes`."""


class Frames:
    """The frames of one direction of one connection.

    `error` is what made the stream unreadable, or None. Frames that were complete before the bad
    length are still returned. The first `feed` without a complete frame raises the error, and so
    does every later one.
    """

    __slots__ = ("_buffer", "_seen", "buffered", "error", "max_size")

    def __init__(self, max_size: int = MAX_SIZE) -> None:
        self.max_size = max_size
        self.error: WireError | None = None
        self._buffer = bytearray()  # never holds a whole frame between two calls
        self._seen = 0  # bytes of the stream before the buffer's first
        self.buffered = 0  # how many bytes of the incomplete frame are held

    def feed(self, data: Buffer) -> list[bytes]:
        """The frames that are complete now, without their lengths. Raises BadLength (negative) or
        TooLarge; `offset` counts from the first byte of the connection."""
        if self.error is not None:
            raise self.error
        if not self.buffered:
            size = int.from_bytes(data[:4], "big")
            # one read, one frame: the common case
            if size + 4 == len(data) and size <= self.max_size:
                self._seen += len(data)
                return [data[4:] if data.__class__ is bytes else bytes(data[4:])]
            frames, taken, self.error = self._split(data)
            self._buffer += memoryview(data)[taken:]
        else:
            self._buffer += data
            frames, taken, self.error = self._split(self._buffer)
            del self._buffer[:taken]
        self._seen += taken
        if self.error is not None:
            self._buffer.clear()
        self.buffered = len(self._buffer)
        if self.error is not None and not frames:
            raise self.error
        return frames

    def clear(self) -> None:
        """Frees the memory of the incomplete frame; the stream is over."""
        self._buffer.clear()
        self.buffered = 0

    def _split(self, data: Buffer) -> tuple[list[bytes], int, WireError | None]:
        """The complete frames in `data`, how many bytes they and their lengths take, and the error
        of the length after them."""
        frames: list[bytes] = []
        position, end = 0, len(data)
        with memoryview(data) as view:
            while end - position >= 4:
                size = int.from_bytes(view[position : position + 4], "big", signed=True)
                if not 0 <= size <= self.max_size:
                    return frames, position, self._refusal(size, self._seen + position)
                if size > end - position - 4:
                    break
                frames.append(bytes(view[position + 4 : position + 4 + size]))
                position += 4 + size
        return frames, position, None

    def _refusal(self, size: int, offset: int) -> WireError:
        if size < 0:
            return BadLength(f"a frame of {size} bytes", offset=offset)
        return TooLarge(f"a frame of {size} bytes where {self.max_size} are allowed", offset=offset)
