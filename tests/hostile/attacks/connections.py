"""Floods of connections to any port, which send nothing, or a part of their first message, or leave
at once."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from kafkadouble.messages.generated.sasl_authenticate import SaslAuthenticateRequest
from kafkadouble.messages.generated.sasl_handshake import SaslHandshakeRequest

from ..ports import CONTROLLER, HTTP, PLAINTEXT, SASL_PLAINTEXT, SASL_SSL, SSL
from ..sockets import MB, framed
from .exchanges import HELLO, HOLD_S, TIMEOUT_S, Address, answered, connected, opened

Attack = Callable[[Address, float], None]


@cache
def _context() -> ssl.SSLContext:
    """It reads the authorities of the system, which takes 20 ms."""
    return ssl.create_default_context()


def tls_hello() -> bytes:
    """What a client of TLS sends first."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with suppress(ssl.SSLWantReadError):
        _context().wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
    return outgoing.read()


SASL_HELLO = framed(SaslHandshakeRequest(mechanism="PLAIN"), 1)
CALL = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n"

FIRST: dict[str, Callable[[], bytes]] = {
    PLAINTEXT: lambda: HELLO,
    SSL: tls_hello,
    SASL_PLAINTEXT: lambda: SASL_HELLO,
    SASL_SSL: tls_hello,
    CONTROLLER: lambda: HELLO,
    HTTP: lambda: CALL + b"\r\n",
}
"""By port: the first message of a client."""


def idle(address: Address, scale: float) -> None:
    """5,000 connections that send nothing."""
    opened(address, int(5000 * scale))
    time.sleep(HOLD_S * scale)


def half(port: str) -> Attack:
    """5,000 connections, each of which sends the first half of its first message."""

    def attack(address: Address, scale: float) -> None:
        first = FIRST[port]()
        _hold(opened(address, int(5000 * scale)), first[: len(first) // 2], scale)

    return attack


def whole(port: str) -> Attack:
    """2,000 connections, each of which sends its first message, and reads no answer."""

    def attack(address: Address, scale: float) -> None:
        _hold(opened(address, int(2000 * scale)), FIRST[port](), scale)

    return attack


def _hold(socks: list[socket.socket], data: bytes, scale: float) -> None:
    deadline = time.monotonic() + HOLD_S * scale
    unsent = socks
    while unsent and time.monotonic() < deadline:
        unsent = [sock for sock in unsent if not _is_sent(sock, data)]
        time.sleep(0.01)
    time.sleep(max(0, deadline - time.monotonic()))


def _is_sent(sock: socket.socket, data: bytes) -> bool:
    try:
        return bool(sock.send(data))
    except BlockingIOError:  # it is not connected yet
        return False
    except OSError:  # the server has closed it
        return True


def churn(port: str) -> Attack:
    """3,000 connections one after the other; every second one sends its first message."""

    def attack(address: Address, scale: float) -> None:
        first = FIRST[port]()
        for number in range(int(3000 * scale)):
            with suppress(ConnectionResetError), socket.create_connection(address, TIMEOUT_S) as sock:
                if number % 2:
                    sock.sendall(first)

    return attack


def wrong_logins(address: Address, scale: float) -> None:
    """1,000 logins with a wrong password at once."""
    login = framed(SaslAuthenticateRequest(auth_bytes=b"\0alice\0wrong"), 2)
    socks = connected(address, int(1000 * scale))
    answered(socks, [SASL_HELLO] * len(socks))
    answered(socks, [login] * len(socks))


def slow_connections(address: Address, scale: float) -> None:
    """9,000 connections, each of which sends a byte now and then."""
    socks = connected(address, int(9000 * scale))
    for byte in HELLO[:3]:
        for sock in socks:
            sock.send(bytes((byte,)))
    time.sleep(HOLD_S * scale)


def half_frames(address: Address, scale: float) -> None:
    socks = connected(address, int(1000 * scale))
    for number, sock in enumerate(socks):
        sock.sendall((100 * MB).to_bytes(4) + bytes(HELLO[4:9]) + bytes(number % 2 * 30_000))
    time.sleep(HOLD_S * scale)


def descriptors(address: Address, scale: float) -> None:
    """Many more connections than the broker has descriptors for."""
    opened(address, int(2000 * scale))
    time.sleep(HOLD_S * scale)
