"""What a connection had is freed when it ends, without a garbage collection."""

from __future__ import annotations

import gc
import socket
import ssl
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.server.network import handshake_turns
from kafkadouble.server.network.connection_protocol import ConnectionProtocol
from tests.support.waiting import eventually

from .attacks.connections import tls_hello
from .attacks.exchanges import HELLO, Address
from .sockets import TIMEOUT


@pytest.fixture
def no_collections() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def alive(kind: type) -> int:
    return sum(type(each) is kind for each in gc.get_objects())


def await_freed(kind: type, before: int) -> None:
    eventually(lambda: alive(kind), lambda count: count <= before, within=TIMEOUT)


def in_plaintext(address: Address) -> None:
    with socket.create_connection(address, TIMEOUT) as sock:
        sock.sendall(HELLO)
        assert sock.recv(100)


def with_tls(address: Address) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with context.wrap_socket(socket.create_connection(address, TIMEOUT)) as sock:
        sock.sendall(HELLO)
        assert sock.recv(100)


def half_a_handshake(address: Address) -> None:
    with socket.create_connection(address, TIMEOUT) as sock:
        sock.sendall(tls_hello())
        assert sock.recv(100)


@pytest.mark.usefixtures("no_collections")
@pytest.mark.parametrize("connect", [in_plaintext, with_tls, half_a_handshake], ids=lambda function: function.__name__)
def test_a_connection_that_ends_leaves_nothing_for_the_collector(connect: Callable[[Address], None]) -> None:
    with KafkaDouble(security=None if connect is in_plaintext else "SSL") as kafka:
        host, _, port = kafka.bootstrap_servers.rpartition(":")
        kind = ConnectionProtocol if connect is in_plaintext else SSLProtocol
        before = alive(kind)
        for _ in range(5):
            connect((host, int(port)))
        await_freed(kind, before)


@pytest.mark.usefixtures("no_collections")
def test_a_handshake_that_is_given_up_leaves_no_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake_turns, "MOST", 3)
    monkeypatch.setattr(handshake_turns, "GRACE_S", 0)
    with KafkaDouble(security="SSL") as kafka:
        host, _, port = kafka.bootstrap_servers.rpartition(":")
        before, hello = alive(SSLProtocol), tls_hello()
        socks = [socket.create_connection((host, int(port)), TIMEOUT) for _ in range(10)]
        for sock in socks:
            sock.sendall(hello)
        for sock in socks:  # each is answered or given up
            with suppress(ConnectionError):
                sock.recv(100)
        await_freed(SSLProtocol, before + 3)
        for sock in socks:
            sock.close()
