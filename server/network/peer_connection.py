"""A connection to another node: first ApiVersions and the login, then one request at a time
(KIP-35, KIP-511, KIP-152).

Rules. `server/client/` decides which bytes are sent, and reads the received bytes; this file has
the socket. It never retries and never logs, and the caller decides how long it waits.
"""

from __future__ import annotations

import asyncio

from kafkadouble.messages import error_codes, registry
from kafkadouble.messages.message import Message
from kafkadouble.wire.frame import MAX_SIZE

from ..client.api_versions import VersionsRefused, api_versions
from ..client.client_connection import BadPeer, ClientConnection, Versions
from ..client.steps import ConnectionStep, driven_async
from ..raft.messages import downgraded
from ..raft.request_manager import RequestFailure
from ..raft.voters import VoterEndpoint
from ..requests.bounds import MOST_ELEMENTS
from .peer_security import PLAINTEXT, PeerSecurity

CHUNK = 1 << 16


class PeerConnection:
    """Use `open`."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client_id: str, max_frame: int
    ) -> None:
        self._reader, self._writer = reader, writer
        self._protocol = ClientConnection(client_id, max_frame, MOST_ELEMENTS)
        self._session_end_s: float | None = None  # by the clock of the loop

    @classmethod
    async def open(
        cls,
        endpoint: VoterEndpoint,
        client_id: str,
        max_frame: int = MAX_SIZE,
        security: PeerSecurity = PLAINTEXT,
    ) -> PeerConnection:
        """Connect, with TLS if the peer's listener has it, ask for the peer's versions, and log in.
        OSError, BadPeer."""
        made = cls(*await asyncio.open_connection(*endpoint, ssl=security.context), client_id, max_frame)
        try:
            await made._agree()
            await made._log_in(security)
        except BaseException:
            made.abort()
            raise
        return made

    @property
    def versions(self) -> Versions:
        """Those of the peer."""
        return self._protocol.versions

    @property
    def is_open(self) -> bool:
        """Whether the peer has not closed it, as far as is known here, and the session has not
        ended."""
        if self._session_end_s is not None and asyncio.get_running_loop().time() >= self._session_end_s:
            return False
        return not (self._reader.at_eof() or self._writer.is_closing() or self._reader.exception())

    async def ask(self, body: Message, version: int, lowest: int = 0) -> Message | RequestFailure:
        """The response, in the newest version from `lowest` to `version` that the peer has.
        OSError, BadPeer."""
        low, high = self.versions.get(body.api_key or 0, (0, -1))
        version = min(version, high)
        if version < max(low, lowest):
            return RequestFailure.UNSUPPORTED_VERSION
        self._writer.writelines(self._protocol.send(downgraded(body, version), version))
        await self._writer.drain()
        return await self._response()

    def abort(self) -> None:
        """Closes it at once."""
        self._writer.transport.abort()

    async def ended(self) -> None:
        """Waits until the socket of a connection that was aborted is closed."""
        try:
            await self._writer.wait_closed()
        except OSError:
            return

    async def _agree(self) -> None:
        try:
            self._protocol.versions = await driven_async(api_versions(), self._take)
        except VersionsRefused as refused:
            raise BadPeer(f"it answers ApiVersions with {error_codes.name(refused.code)}") from None

    async def _log_in(self, security: PeerSecurity) -> None:
        if security.login is None:
            return
        seconds = await driven_async(security.login(), self._take)
        if seconds is not None:
            self._session_end_s = asyncio.get_running_loop().time() + seconds

    async def _take(self, step: ConnectionStep) -> Message:
        """The response to a step before the first request."""
        answer = await self.ask(*step)
        if isinstance(answer, RequestFailure):
            api = registry.api(step.body.api_key or 0).name
            raise BadPeer(f"it serves no {api}{f' from version {step.lowest} on' if step.lowest else ''}")
        return answer

    async def _response(self) -> Message:
        """The response to the request in flight, and nothing behind it."""
        while True:
            data = await self._reader.read(CHUNK)
            if not data:
                raise ConnectionResetError("it closed the connection")
            if (answer := self._protocol.feed(data)) is not None:
                return answer

    def __repr__(self) -> str:
        return f"connection to {self._writer.get_extra_info('peername')}"
