"""The smallest of clients: one request on a connection of its own, and the decoded answer."""

from __future__ import annotations

import socket
from typing import Any

from kafkadouble.messages import headers
from kafkadouble.messages.message import Message


def ask(address: tuple[str, int], body: Message, version: int, client_id: str = "test") -> Any:
    """What the broker at `address` answers."""
    with socket.create_connection(address, timeout=20) as sock:
        for part in headers.write_request(body, 1, client_id, version):
            sock.sendall(part)
        frame = _exactly(sock, int.from_bytes(_exactly(sock, 4), "big"))
    assert body.api_key is not None
    return headers.read_response(frame, body.api_key, version)[1]


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            raise ConnectionError("the broker closed the connection")
        data += more
    return data
