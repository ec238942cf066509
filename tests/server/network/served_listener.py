"""A listener around a node on a real socket, and a client of it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from kafkadouble.messages import headers
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.network.clock import Clock, SystemClock
from kafkadouble.server.network.listener import Listener
from kafkadouble.server.node import Node
from kafkadouble.server.tracing.history import History
from tests.server.harness import SEED
from tests.support.listeners import listeners_of


def history_of(node: Node) -> History:
    assert node.history is not None
    return node.history


def node_at(sock: socket.socket, clock: Clock) -> Node:
    settings = Settings()
    listeners = listeners_of(settings, sock.getsockname()[:2])
    return Node(settings, listeners=listeners, now=clock.now(), seed=SEED)


@asynccontextmanager
async def serving(clock: Clock | None = None) -> AsyncIterator[Listener]:
    clock = clock or SystemClock()
    sock = socket.create_server(("127.0.0.1", 0))
    listener = Listener(node_at(sock, clock), clock, {"PLAINTEXT": sock})
    await listener.start()
    try:
        yield listener
    finally:
        await listener.stop()
        assert listener.connections == set()
        assert sock.fileno() == -1


class Client:
    """A connection that reads and writes frames."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, message: Message, version: int) -> None:
        self.writer.writelines(bytes(part) for part in headers.write_request(message, 1, "test", version))

    async def receive(self, key: int, version: int) -> Any:
        size = int.from_bytes(await self.reader.readexactly(4), "big")
        return headers.read_response(await self.reader.readexactly(size), key, version)[1]

    async def hello(self) -> None:
        self.send(HELLO, 3)
        assert (await self.receive(ApiKeys.API_VERSIONS, 3)).error_code == 0

    async def ended(self) -> bool:
        try:
            return await self.reader.read() == b""
        except ConnectionResetError:
            return True


@asynccontextmanager
async def connected(listener: Listener) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_connection(*listener.node.advertised)
    try:
        yield Client(reader, writer)
    finally:
        writer.close()
        with_reset = asyncio.gather(writer.wait_closed(), return_exceptions=True)
        await with_reset


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), 20))


HELLO = ApiVersionsRequest(client_software_name="test", client_software_version="1")
