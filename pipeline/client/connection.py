"""A connection to a broker: authentication, the versions of both sides, then requests and responses
(KIP-35, KIP-511, KIP-219).

Rules. A response with another correlation id, or bytes that are no response, is a BadAnswer, after
which the connection cannot be used: `server/client/` decides that. The connection waits when it was
throttled (`throttle_time_ms`). This file does not repeat requests.
"""

from __future__ import annotations

import time
from typing import cast

from kafkadouble.messages import registry
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.message import Message
from kafkadouble.server.client.api_versions import VersionsRefused, api_versions
from kafkadouble.server.client.client_connection import BadPeer, ClientConnection, Versions
from kafkadouble.server.client.steps import ConnectionStep, driven
from kafkadouble.wire.frame import MAX_SIZE

from .dialing import Unresolvable, description, dial
from .errors import BadAnswer, ConnectionLost, NoSuchHost, Unsupported, refusal
from .names import BrokerEndpoint
from .settings import ClientSettings
from .stream import SocketStream


class BrokerConnection:
    """Use `open` to make one."""

    def __init__(self, stream: SocketStream, settings: ClientSettings) -> None:
        self._stream, self._settings = stream, settings
        self._protocol = ClientConnection(settings.text("client.id"))
        self._quiet_until = 0.0
        self._broken = False  # whether the next bytes are unknown
        self._proven = False  # whether a response other than that of ApiVersions arrived
        self.used = time.monotonic()
        self.expires: float | None = None

    @classmethod
    def open(cls, endpoint: BrokerEndpoint, settings: ClientSettings, seconds: float) -> BrokerConnection:
        """A connection that is ready for requests. Raises ConnectionLost, BadAnswer, Unsupported,
        NotAuthenticated."""
        from .security import secured

        seconds = min(seconds, settings.seconds("socket.connection.setup.timeout.ms"))
        try:
            sock = dial(endpoint, settings, seconds)
        except Unresolvable as error:
            raise NoSuchHost(f"broker {endpoint}: {error}") from None
        except OSError as error:
            why = "no answer in time" if isinstance(error, TimeoutError) else description(error)
            raise ConnectionLost(f"broker {endpoint} cannot be reached: {why}") from None
        made = cls(SocketStream(secured(sock, endpoint, settings, seconds), endpoint), settings)
        try:
            made._agree()
            made._log_in()
        except BaseException:
            made.close()
            raise
        return made

    @property
    def endpoint(self) -> BrokerEndpoint:
        return self._stream.endpoint

    @property
    def versions(self) -> Versions:
        """The version ranges of the broker, by API key."""
        return self._protocol.versions

    @property
    def idle(self) -> bool:
        """Whether another caller may use it now: no response is outstanding, and nothing failed."""
        return not self._protocol.in_flight and not self._broken

    @property
    def throttled(self) -> bool:
        """Whether the broker throttles this client."""
        return time.monotonic() < self._quiet_until

    def stale(self, now: float) -> bool:
        """Whether a new connection is needed: this one was idle for too long, or has to
        authenticate again (KIP-368)."""
        idle = self._settings.seconds("connections.max.idle.ms")
        return (idle >= 0 and now - self.used > idle) or (self.expires is not None and now > self.expires)

    def version(self, key: int, lowest: int = 0, highest: int = 1 << 15) -> int:
        """The newest version that both sides have, within these bounds. Raises Unsupported."""
        api = registry.api(key)
        low, high = self.versions.get(key, (0, -1))
        found = min(api.stable_versions[1], high, highest)
        if found < max(api.stable_versions[0], low, lowest):
            theirs = f"it has {low} to {high}" if low <= high else "it has none"
            ours = f"{max(api.stable_versions[0], lowest)} to {min(api.stable_versions[1], highest)}"
            raise Unsupported(f"broker {self.endpoint} has no version of {api.name} from {ours}: {theirs}")
        return found

    def ask(self, body: Message, version: int) -> Message:
        """Sends a request and waits for its response; no other request may be in flight."""
        self.send(body, version)
        return self.receive()

    def send(self, body: Message, version: int) -> None:
        """Sends a request. `receive` returns its response, after those of earlier requests."""
        if (wait := self._quiet_until - time.monotonic()) > 0:
            time.sleep(wait)
        parts = self._protocol.send(body, version)
        self._broken = True
        self._stream.send(parts, self._settings.seconds("request.timeout.ms"))
        self._broken = False

    def forget(self) -> None:
        """The last request has no response (acks=0)."""
        self._protocol.forget()

    def receive(self, most: int = MAX_SIZE) -> Message:
        """The response to the oldest request in flight, of at most `most` bytes. Its records are
        views of a buffer that lasts as long as they do."""
        self._broken = True
        try:
            frame = self._stream.frame(self._settings.seconds("request.timeout.ms"), most)
        except ConnectionLost as lost:
            raise lost if self._proven else self._doubted(lost) from None
        answer = self._read(frame)
        self._proven = self._proven or answer.api_key != ApiKeys.API_VERSIONS
        self._broken = False
        self._stream.give_back(frame)
        self.used = time.monotonic()
        throttle: int = getattr(answer, "throttle_time_ms", 0)
        if throttle > 0:
            self._quiet_until = self.used + min(throttle / 1000, self._settings.seconds("request.timeout.ms"))
        return answer

    def rest(self) -> None:
        """Releases the buffers, because no request will follow for a while."""
        self._stream.forget_buffers()

    def close(self) -> None:
        self._stream.close()

    def _read(self, frame: bytearray) -> Message:
        try:
            # A message with records is read in place; any other one is small.
            return self._protocol.receive(cast(bytes, frame))
        except BadPeer as problem:
            raise BadAnswer(f"broker {self.endpoint}: {problem}") from problem

    def _agree(self) -> None:
        try:
            self._protocol.versions = driven(api_versions(), self._take)
        except VersionsRefused as refused:
            raise refusal(f"broker {self.endpoint} answers ApiVersions", refused.code) from None

    def _log_in(self) -> None:
        if (self._settings.text("security.protocol") or "").startswith("SASL_"):
            from .security import login

            seconds = driven(login(self.endpoint, self._settings), self._take)
            self.expires = None if seconds is None else time.monotonic() + seconds

    def _take(self, step: ConnectionStep) -> Message:
        """The response to a step before the first request."""
        return self.ask(step.body, self.version(step.body.api_key or 0, step.lowest, step.version))

    def _doubted(self, lost: ConnectionLost) -> ConnectionLost:
        """The hint for a closed connection: a broker that requires TLS or SASL closes it, sometimes
        after it has sent its versions."""
        protocol = self._settings.text("security.protocol")
        return ConnectionLost(f"{lost}; is security.protocol={protocol} right for it?")

    def __repr__(self) -> str:
        return f"connection to {self.endpoint}, {len(self._protocol.in_flight)} requests under way"
