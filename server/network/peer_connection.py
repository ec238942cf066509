"""A connection to another node: first ApiVersions and the login, then one request at a time
(KIP-35, KIP-511, KIP-152).

Rules. The peer is not trusted. Another correlation id, bytes that are not a response, a frame that
is too large, or more bytes than one response is a BadPeer; the connection cannot be used after
that. This file never retries and never logs, and the caller decides how long it waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import count

from kafkadouble.messages import error_codes, headers, registry
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.elements import exceed
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafkadouble.messages.message import Message
from kafkadouble.wire.errors import WireError
from kafkadouble.wire.frame import MAX_SIZE, Frames

from ..raft.messages import downgraded
from ..raft.request_manager import RequestFailure
from ..raft.voters import VoterEndpoint
from ..requests.bounds import MOST_ELEMENTS
from .peer_security import PLAINTEXT, PeerSecurity

API_VERSIONS_VERSION = 4
CHUNK = 1 << 16

Versions = Mapping[int, tuple[int, int]]
"""The lowest and the highest version of each API key."""


class BadPeer(Exception):
    """The bytes of a peer are not the response to the request."""


class PeerConnection:
    """Use `open`. `versions` are the peer's."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, client_id: str, max_frame: int
    ) -> None:
        self._reader, self._writer, self._client_id = reader, writer, client_id
        self._frames, self._ids = Frames(max_frame), count()
        self.versions: Versions = {}
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
            if security.login is not None:
                await security.login(made)
        except BaseException:
            made.abort()
            raise
        return made

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
        key = body.api_key or 0
        low, high = self.versions.get(key, (0, -1))
        version = min(version, high)
        if version < max(low, lowest):
            return RequestFailure.UNSUPPORTED_VERSION
        return await self._exchange(downgraded(body, version), version)

    def close_after(self, seconds: float) -> None:
        """Count as closed when this time is over."""
        self._session_end_s = asyncio.get_running_loop().time() + seconds

    def abort(self) -> None:
        """Close it at once."""
        self._writer.transport.abort()

    async def ended(self) -> None:
        """Wait until the socket of a connection that was aborted is closed."""
        try:
            await self._writer.wait_closed()
        except OSError:
            return

    async def _agree(self) -> None:
        answer = await self._ask_versions(API_VERSIONS_VERSION)
        if answer.error_code == error_codes.UNSUPPORTED_VERSION:
            own = next((each.max_version for each in answer.api_keys if each.api_key == ApiKeys.API_VERSIONS), 0)
            answer = await self._ask_versions(max(0, min(own, API_VERSIONS_VERSION - 1)))
        if answer.error_code:
            raise BadPeer(f"it answers ApiVersions with {error_codes.name(answer.error_code)}")
        self.versions = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}

    async def _ask_versions(self, version: int) -> ApiVersionsResponse:
        body = ApiVersionsRequest(client_software_name="kafkadouble", client_software_version="1")
        answer = await self._exchange(body, version)
        assert isinstance(answer, ApiVersionsResponse)
        return answer

    async def _exchange(self, body: Message, version: int) -> Message:
        key, correlation_id = body.api_key or 0, next(self._ids) & 0x7FFFFFFF
        self._writer.writelines(headers.write_request(body, correlation_id, self._client_id, version))
        await self._writer.drain()
        frame = await self._frame()
        try:
            _check_elements(frame, key, version)
            found, answer = headers.read_response(frame, key, version)
        except WireError as error:
            raise BadPeer(
                f"its answer to {registry.api(key).name} version {version} cannot be read: {error}"
            ) from error
        if found != correlation_id:
            raise BadPeer(f"its answer has the correlation id {found} instead of {correlation_id}")
        return answer

    async def _frame(self) -> bytes:
        """The next frame, and nothing behind it."""
        frames: list[bytes] = []
        while not frames:
            data = await self._reader.read(CHUNK)
            if not data:
                raise ConnectionResetError("it closed the connection")
            try:
                frames = self._frames.feed(data)
            except WireError as error:
                raise BadPeer(f"it sends {error}") from error
        if len(frames) > 1 or self._frames.buffered or self._frames.error:
            raise BadPeer("it sends more than it was asked for")
        return frames[0]

    def __repr__(self) -> str:
        return f"connection to {self._writer.get_extra_info('peername')}"


def _check_elements(frame: bytes, key: int, version: int) -> None:
    """WireError for a response that would become far more objects than it has bytes."""
    if len(frame) <= MOST_ELEMENTS:
        return
    api = registry.api(key)
    tagged = api.response_header_version(version)
    if (tagged and frame[4]) or exceed(api.response, frame, version, 5 if tagged else 4, MOST_ELEMENTS):
        raise WireError(f"more than {MOST_ELEMENTS} elements, or tags before them")
