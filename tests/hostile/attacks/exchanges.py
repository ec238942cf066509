"""Connections on which frames are sent and answers are read, many at once."""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable, Iterable

from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.message import Message

from ..sockets import MB, framed

Address = tuple[str, int]
TIMEOUT_S = 120
HOLD_S = 2
"""How long idle connections are held open."""

HELLO = framed(ApiVersionsRequest(client_software_name="evil", client_software_version="1"), 3)


OPENED: list[socket.socket] = []
"""Every socket of the attacks that this process has run; they are open until the attack ends."""


def connected(address: Address, count: int) -> list[socket.socket]:
    made = [socket.create_connection(address, TIMEOUT_S) for _ in range(count)]
    OPENED.extend(made)
    for each in made:
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def opened(address: Address, count: int) -> list[socket.socket]:
    """Begins so many connections, and does not wait for the server to accept them."""
    made = []
    for _ in range(count):
        made.append(socket.socket())
        made[-1].setblocking(False)
        made[-1].connect_ex(address)
    OPENED.extend(made)
    return made


def close_all() -> None:
    """Ends the attack."""
    while OPENED:
        OPENED.pop().close()


class Exchange:
    """A frame that is being sent, and the answer that is being read."""

    def __init__(self, sock: socket.socket, frame: bytes) -> None:
        self.sock, self.unsent, self.answer = sock, memoryview(frame), bytearray()
        sock.setblocking(False)

    def go_on(self, events: int) -> bool:
        """Whether more bytes of the answer are to come."""
        if events & selectors.EVENT_WRITE:
            self.unsent = self.unsent[self.sock.send(self.unsent) :]
        if events & selectors.EVENT_READ:
            more = self.sock.recv(MB)
            if not more:
                raise ConnectionError("the broker closed a connection")
            self.answer += more
        return len(self.answer) < 4 or len(self.answer) < 4 + int.from_bytes(self.answer[:4])


Reply = Callable[[socket.socket, bytes], bytes]
BOTH = selectors.EVENT_READ | selectors.EVENT_WRITE


def answered(socks: Iterable[socket.socket], frames: Iterable[bytes], reply: Reply = lambda sock, answer: b"") -> None:
    """Sends each socket its frame, all at once, and reads the answers as they arrive. `reply`
    returns the next frame to send, and nothing at the end."""
    with selectors.DefaultSelector() as selector:
        for sock, frame in zip(socks, frames, strict=True):
            selector.register(sock, BOTH, Exchange(sock, frame))
        deadline = time.monotonic() + TIMEOUT_S
        while left := len(selector.get_map()):
            assert time.monotonic() < deadline, f"{left} connections are not answered"
            for key, events in selector.select(1):
                if not key.data.go_on(events):
                    more = reply(key.data.sock, bytes(key.data.answer[4:]))
                    if more:
                        selector.modify(key.fileobj, BOTH, Exchange(key.data.sock, more))
                    else:
                        selector.unregister(key.fileobj)
                elif events & selectors.EVENT_WRITE and not len(key.data.unsent):
                    selector.modify(key.fileobj, selectors.EVENT_READ, key.data)


def ask_widely(address: Address, message: Message, version: int) -> None:
    """The same request on ten connections at once, three times."""
    frame = framed(message, version)
    socks = connected(address, 10)
    for _ in range(3):
        answered(socks, [frame] * len(socks))
