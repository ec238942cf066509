"""A peer on a real socket that follows the script of a test: it answers correctly, wrongly, or not
at all.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from kafkadouble.messages import headers, registry
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.api_versions import ApiVersionsResponse
from kafkadouble.messages.headers import RequestHead
from kafkadouble.messages.message import Message
from kafkadouble.server.raft.voters import VoterEndpoint
from kafkadouble.wire.frame import Frames

VERSIONS = {1: (4, 17), 18: (0, 4), 55: (0, 2), 59: (0, 1)}

ROUNDS = 5
"""asyncio takes three rounds from accepting a connection to telling its protocol, and if the server
is closed meanwhile leaves the socket open."""


class Line:
    """One connection of the peer. `ended` is set when the other side has closed it."""

    def __init__(self, peer: ScriptedPeer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.peer, self._reader, self._writer = peer, reader, writer
        self._frames: list[bytes] = []
        self._split = Frames()

    async def request(self) -> tuple[RequestHead, Any]:
        """Reads the next request. There is never more than one in flight, which this checks."""
        while not self._frames:
            data = await self._reader.read(1 << 16)
            if not data:
                raise EOFError
            self._frames = self._split.feed(data)
        assert len(self._frames) == 1, "a second request before the first was answered"
        assert not self._split.buffered
        frame = self._frames.pop()
        head = headers.read_request_header(frame)
        body: Any = registry.api(head.api_key).request.decode(frame, head.api_version, head.body_offset)
        self.peer.seen.append((head.api_key, head.api_version, body))
        return head, body

    async def answer(self, head: RequestHead, body: Message, correlation_id: int | None = None) -> None:
        id = head.correlation_id if correlation_id is None else correlation_id
        await self.raw(b"".join(map(bytes, headers.write_response(body, id, head.api_key, head.api_version))))

    async def raw(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def agree(self) -> None:
        """Answers ApiVersions, which comes first."""
        head, _ = await self.request()
        assert head.api_key == ApiKeys.API_VERSIONS
        await self.answer(head, versions_of(self.peer.versions))

    async def closed(self) -> None:
        """Waits until the other side has closed the connection."""
        with suppress(ConnectionError):
            while await self._reader.read(1 << 16):
                pass
        self.peer.ended += 1


Script = Callable[[Line], Awaitable[None]]


class ScriptedPeer:
    """`script` is run for each connection, which is closed at its end."""

    def __init__(self, script: Script) -> None:
        self.script, self.versions = script, dict(VERSIONS)
        self.seen: list[tuple[int, int, Any]] = []  # API, version, body of each request
        self.connections = self.ended = 0
        self.failure: BaseException | None = None
        self.endpoint = VoterEndpoint("127.0.0.1", 0)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await self.script(Line(self, reader, writer))
        except (EOFError, ConnectionError, asyncio.CancelledError):
            pass
        except BaseException as failure:
            self.failure = failure
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def requested_versions(self, api_key: int) -> list[int]:
        return [version for key, version, _ in self.seen if key == api_key]


@asynccontextmanager
async def scripted(script: Script) -> AsyncIterator[ScriptedPeer]:
    """Starts a peer. An error in its script is raised at the end."""
    peer = ScriptedPeer(script)
    tasks: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(peer.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    sock = socket.create_server(("127.0.0.1", 0))
    server = await asyncio.start_server(connected, sock=sock)
    peer.endpoint = VoterEndpoint(*sock.getsockname()[:2])
    try:
        yield peer
    finally:
        await close_server(server, sock)
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()
    if peer.failure is not None:
        raise peer.failure


def versions_of(versions: dict[int, tuple[int, int]], code: int = 0) -> ApiVersionsResponse:
    of = ApiVersionsResponse.ApiVersion
    keys = [of(api_key=key, min_version=low, max_version=high) for key, (low, high) in versions.items()]
    return ApiVersionsResponse(error_code=code, api_keys=keys)


async def close_server(server: asyncio.Server, sock: socket.socket) -> None:
    """Stops accepting. The server handles connections in progress before it closes; otherwise
    asyncio would leave them open.
    """
    if sock.fileno() < 0:
        return
    asyncio.get_running_loop().remove_reader(sock)
    for _ in range(ROUNDS):
        await asyncio.sleep(0)
    server.close()
