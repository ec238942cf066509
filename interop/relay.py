"""A relay before a broker. It cuts connections when a test says so, and needs no help from the
broker.

It listens on 127.0.0.2 at the broker's own port, and replaces the broker's address by its own in
the broker's responses. Both have nine characters, so no length changes. So clients also use the
relay for the addresses that the broker itself gives them. It passes whole frames on, and reads
nothing of a request but its API key.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

TRUE, SHOWN = b"127.0.0.1", b"127.0.0.2"


class Relay:
    """The relay: the address where clients connect, and how many more responses of each API it will
    drop."""

    def __init__(self, bootstrap: str) -> None:
        self._port = int(bootstrap.rpartition(":")[2])
        self.bootstrap = f"{SHOWN.decode()}:{self._port}"
        self._door = socket.create_server((SHOWN.decode(), self._port))
        self._lines: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._to_cut: dict[int, int] = {}
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def swallow(self, api_key: int, times: int = 1) -> None:
        """Lets the broker handle the next requests of this API, and cuts the connection instead of
        passing the response on."""
        with self._lock:
            self._to_cut[api_key] = times

    def close(self) -> None:
        """Cuts every connection and stops listening."""
        with self._lock:
            lines, self._lines = self._lines, set()
        for one in (self._door, *lines):
            _cut(one)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                broker = socket.create_connection((TRUE.decode(), self._port))
                with self._lock:
                    self._lines |= {client, broker}
                api_keys: dict[bytes, int] = {}
                for work in (self._forward_requests, self._forward_answers):
                    threading.Thread(target=work, args=(client, broker, api_keys), daemon=True).start()

    def _forward_requests(self, client: socket.socket, broker: socket.socket, api_keys: dict[bytes, int]) -> None:
        for frame in _frames(client):
            api_keys[frame[8:12]] = struct.unpack_from(">h", frame, 4)[0]
            if not _send(broker, frame):
                break
        _cut(broker)

    def _forward_answers(self, client: socket.socket, broker: socket.socket, api_keys: dict[bytes, int]) -> None:
        for frame in _frames(broker):
            if self._swallows(api_keys.pop(frame[4:8], -1)) or not _send(client, frame.replace(TRUE, SHOWN)):
                break
        _cut(client)
        _cut(broker)

    def _swallows(self, api_key: int) -> bool:
        with self._lock:
            left = self._to_cut.get(api_key, 0)
            self._to_cut[api_key] = max(left - 1, 0)
            self.cuts += left > 0
            return left > 0


def _frames(sock: socket.socket) -> Iterator[bytes]:
    """Whole frames with their four bytes of length, until the connection ends."""
    kept = bytearray()
    with suppress(OSError):
        while piece := sock.recv(1 << 20):
            kept += piece
            while len(kept) >= 4 and len(kept) >= (end := 4 + struct.unpack_from(">i", kept)[0]):
                yield bytes(kept[:end])
                del kept[:end]


def _send(sock: socket.socket, frame: bytes) -> bool:
    try:
        sock.sendall(frame)
    except OSError:
        return False
    return True


def _cut(sock: socket.socket) -> None:
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
    sock.close()


@contextmanager
def relay(bootstrap: str) -> Iterator[Relay]:
    """A relay before this broker, as long as the `with` block runs."""
    made = Relay(bootstrap)
    try:
        yield made
    finally:
        made.close()
