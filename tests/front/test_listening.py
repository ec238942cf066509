"""The socket that listens: what its connections inherit."""

from __future__ import annotations

import socket

from kafkadouble.common.listening import listen


def test_connections_do_not_hold_back_small_answers() -> None:
    with listen("127.0.0.1", 0) as door, socket.create_connection(door.getsockname()):
        door.setblocking(True)
        accepted, _ = door.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
