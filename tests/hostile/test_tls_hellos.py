"""Connections that begin a TLS handshake and do not go on cost no more than their sockets."""

from __future__ import annotations

import ssl
import sys
import threading
from collections.abc import Iterator

import pytest

from .sockets import MB, TIMEOUT, Broker

COUNT = 400
linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")


@pytest.fixture
def broker() -> Iterator[Broker]:
    made = Broker("--security", "SSL")
    try:
        yield made
    finally:
        made.stop()


CLIENTS = ssl.create_default_context()  # reads the authorities of the system, which takes 20 ms


def hello() -> bytes:
    """What a client sends first: one record."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        CLIENTS.wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
    return outgoing.read()


def answers(broker: Broker) -> bool:
    """Whether a handshake with another client succeeds."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with context.wrap_socket(broker.connect()) as client:
        return client.version() is not None


@linux
@pytest.mark.parametrize("size", [1, 5, 200])
def test_a_hello_that_does_not_go_on_costs_a_socket(broker: Broker, size: int) -> None:
    assert answers(broker)
    before, sockets = broker.resident(), []
    for _ in range(COUNT):
        sockets.append(broker.connect())
        sockets[-1].sendall(hello()[:size])
    assert answers(broker)
    assert broker.resident() - before < 10 * MB
    for socket in sockets:
        socket.close()
    broker.logged("the TLS handshake has failed: the client has closed the connection")
    assert answers(broker)
    assert broker.resident() - before < 20 * MB


def test_tls_hello_in_single_bytes_is_answered(broker: Broker) -> None:
    with broker.connect() as sock:
        data = hello()
        for at in range(len(data)):
            sock.sendall(data[at : at + 1])
            if at % 100 == 0:
                threading.Event().wait(0.01)
        assert sock.recv(1) == b"\x16", "its own part of the handshake"


@pytest.mark.parametrize("data", [b"\x16\x03\x01\xff\xff" + bytes(20_000), b"GET / HTTP/1.1\r\n"])
def test_invalid_client_hello_ends_the_connection(broker: Broker, data: bytes) -> None:
    with broker.connect() as sock:
        sock.sendall(data)
        sock.settimeout(TIMEOUT)
        try:
            while sock.recv(4096):
                pass
        except ConnectionResetError:
            pass
    assert answers(broker)
