"""Sends and receives frames over a socket, with a timeout for every wait.

Rules. The receiver bounds the size of a frame, and memory grows with the bytes that arrived, not
with the announced length. Received bytes are not copied: a frame is the buffer into which the
socket was read. The buffer is reused when no view of it exists any more.
"""

from __future__ import annotations

import socket
import time
from collections import deque
from collections.abc import Sequence

from .dialing import description
from .errors import ConnectionLost
from .names import BrokerEndpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kafkadouble.messages.message import Buffer

STEP = 1 << 20
"""The initial size of a buffer in bytes, for a frame of any announced length. A full buffer is
doubled."""

SPARES = 2
"""The number of buffers that are kept for reuse: usually at most one other frame is still in
use."""


class SocketStream:
    """Takes over `sock`. Every error is ConnectionLost."""

    def __init__(self, sock: socket.socket, endpoint: BrokerEndpoint) -> None:
        self._sock, self.endpoint = sock, endpoint
        self._spares: deque[bytearray] = deque(maxlen=SPARES)

    def send(self, parts: Sequence[Buffer], seconds: float) -> None:
        """Sends all parts, within `seconds`."""
        end = time.monotonic() + seconds
        try:
            for part in parts:
                self._sock.settimeout(max(0.001, end - time.monotonic()))
                self._sock.sendall(part)
        except TimeoutError:
            raise self._lost(f"takes no request for {seconds:.1f} s") from None
        except OSError as error:
            raise self._lost(description(error)) from None

    def frame(self, seconds: float, most: int) -> bytearray:
        """The next frame, without its length, within `seconds` and of at most `most` bytes."""
        end = time.monotonic() + seconds
        head = bytearray(4)
        self._fill(head, 0, 4, end, seconds)
        size = int.from_bytes(head, "big", signed=True)
        if not 4 <= size <= most:
            raise self._lost(f"sends a frame of {size} bytes where 4 to {most} are allowed; is it a broker's port?")
        buffer, filled = self._buffer(size), 0
        while True:
            self._fill(buffer, filled, len(buffer), end, seconds)
            filled = len(buffer)
            if filled == size:
                return buffer
            buffer.extend(bytes(min(size - filled, filled)))

    def give_back(self, frame: bytearray) -> None:
        """Releases the frame; views that are left keep its buffer alive."""
        self._spares.append(frame)

    def forget_buffers(self) -> None:
        """Releases the spare buffers."""
        self._spares.clear()

    def close(self) -> None:
        self._sock.close()

    def _buffer(self, size: int) -> bytearray:
        """A buffer of up to `size` bytes: the buffer of an earlier frame without views, or a new
        buffer. Its content is undefined."""
        initial_size = min(size, STEP)
        for number, spare in enumerate(self._spares):
            try:
                # A buffer with views cannot be resized.
                spare.append(0)
            except BufferError:
                continue
            del self._spares[number]
            del spare[size:]
            spare.extend(bytes(max(0, initial_size - len(spare))))
            return spare
        return bytearray(initial_size)

    def _fill(self, buffer: bytearray, start: int, stop: int, end: float, seconds: float) -> None:
        with memoryview(buffer) as view:
            while start < stop:
                try:
                    self._sock.settimeout(max(0.001, end - time.monotonic()))
                    count = self._sock.recv_into(view[start:stop])
                except TimeoutError:
                    raise self._lost(f"gives no answer within {seconds:.1f} s") from None
                except OSError as error:
                    raise self._lost(description(error)) from None
                if not count:
                    raise self._lost("closed the connection")
                start += count

    def _lost(self, why: str) -> ConnectionLost:
        return ConnectionLost(f"broker {self.endpoint} {why}")
