"""What is sent on a connection with TLS: in order, with slices of files, and no more than a peer
reads."""

from __future__ import annotations

import asyncio
import random
import socket
import ssl
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkadouble.access.certificates import Certificates
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.network.tls_outgoing import TlsOutgoing

LARGE = 8 << 20
BOUND = 1 << 20
"""More bytes than the buffers of TLS and of asyncio have, and fewer than what a test sends."""


@pytest.fixture(scope="module")
def contexts() -> Iterator[tuple[ssl.SSLContext, ssl.SSLContext]]:
    made = Certificates("valid", ["localhost"])
    pair = made.of_brokers()
    (path := made.directory / "own.pem").write_text(pair.key + pair.certificate)
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context(cafile=made.authority_file)
    server.load_cert_chain(path)
    yield server, client
    made.close()


class RecordingProtocol(asyncio.Protocol):
    outgoing: TlsOutgoing

    def __init__(self) -> None:
        self.slowest, self.drains = 0, 0
        self.is_drained = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.outgoing = TlsOutgoing(transport, self)

    def pause_writing(self) -> None:
        self.outgoing.filled()

    def resume_writing(self) -> None:
        self.outgoing.emptied()

    def slow(self, unsent: int) -> None:
        self.slowest = max(self.slowest, unsent)

    def moved(self) -> None: ...

    def drained(self) -> None:
        self.drains += 1
        self.is_drained.set()

    def broken(self, problem: OSError) -> None:
        raise AssertionError(problem)


async def opened(
    contexts: tuple[ssl.SSLContext, ssl.SSLContext],
) -> tuple[RecordingProtocol, asyncio.Transport, asyncio.StreamReader, asyncio.StreamWriter]:
    loop = asyncio.get_running_loop()
    ours, peer = socket.socketpair()
    protocol = RecordingProtocol()
    accepting = loop.create_task(loop.connect_accepted_socket(lambda: protocol, ours, ssl=contexts[0]))
    reader, writer = await asyncio.open_connection(
        sock=peer, ssl=contexts[1], server_hostname="localhost", limit=1 << 16
    )
    transport, _ = await accepting
    return protocol, transport, reader, writer


async def closed(transport: asyncio.Transport, writer: asyncio.StreamWriter) -> None:
    transport.abort()
    writer.transport.abort()
    for _ in range(3):  # asyncio closes aborted sockets in the next rounds
        await asyncio.sleep(0)


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 60))


@pytest.mark.parametrize("seed", range(3))
def test_tls_response_of_any_parts_arrives_in_order(
    contexts: tuple[ssl.SSLContext, ssl.SSLContext], tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)

    async def test() -> None:
        data = rng.randbytes(LARGE)
        protocol, transport, reader, writer = await opened(contexts)
        file = RealDisk(str(tmp_path)).open("file")
        file.append([data])
        expected = bytearray()
        for _ in range(40):
            size, position = rng.choice([0, 1, 100, 5000, 65536, 200_000, 700_000]), rng.randrange(LARGE - 700_000)
            part = data[position : position + size]
            kinds = [part, bytearray(part), memoryview(part), file.slice(position, size)]
            protocol.outgoing.send([part[:7], rng.choice(kinds), part[:3]])
            expected += part[:7] + part + part[:3]
        assert await reader.readexactly(len(expected)) == expected
        file.close()
        await closed(transport, writer)

    run(test())


def test_a_peer_that_does_not_read_costs_no_more_than_what_waits(
    contexts: tuple[ssl.SSLContext, ssl.SSLContext], tmp_path: Path
) -> None:
    """The slice stays in the file until the peer reads; then the connection is drained."""

    async def test() -> None:
        data = random.Random(0).randbytes(LARGE)
        protocol, transport, reader, writer = await opened(contexts)
        file = RealDisk(str(tmp_path)).open("file")
        file.append([data])
        file_slice = file.slice(0, LARGE)
        protocol.outgoing.send([file_slice])
        assert protocol.slowest > LARGE - BOUND
        assert len(file_slice) > LARGE - BOUND
        assert transport.get_write_buffer_size() < BOUND
        assert await reader.readexactly(LARGE) == data
        await protocol.is_drained.wait()
        assert (protocol.outgoing.unsent, protocol.drains) == (0, 1)
        file.close()
        await closed(transport, writer)

    run(test())


def test_tls_connection_sends_nothing_after_its_end(contexts: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    async def test() -> None:
        protocol, transport, reader, writer = await opened(contexts)
        protocol.outgoing.send([b"x" * LARGE])
        protocol.outgoing.end()
        protocol.outgoing.send([b"y"])
        protocol.outgoing.emptied()
        assert protocol.outgoing.unsent < BOUND
        transport.abort()
        assert b"y" not in await reader.read(1)
        await closed(transport, writer)

    run(test())
