"""A connection to a broker: authentication, the versions of both sides, then requests and responses
(KIP-35, KIP-511, KIP-219).

Rules. A response with another correlation id, or bytes that are no response, is a BadAnswer, after
which the connection cannot be used. The connection waits when it was throttled
(`throttle_time_ms`). This file does not repeat requests.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from itertools import count
from typing import NamedTuple, cast

from kafkadouble.messages import error_codes, headers, registry
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.elements import exceed
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafkadouble.messages.message import Message
from kafkadouble.wire.errors import WireError
from kafkadouble.wire.frame import MAX_SIZE

from .dialing import Unresolvable, description, dial
from .errors import BadAnswer, ConnectionLost, NoSuchHost, Unsupported, refusal
from .names import BrokerEndpoint
from .settings import ClientSettings
from .stream import SocketStream

FIRST_VERSION = 4
MOST_ELEMENTS = 1_000_000
"""The largest number of elements of a response: the metadata of a cluster may be larger than any
request."""


class _Sent(NamedTuple):
    key: int
    version: int
    correlation_id: int


class BrokerConnection:
    """Use `open` to make one. `versions` are the broker's, by API key."""

    def __init__(self, stream: SocketStream, settings: ClientSettings) -> None:
        self._stream, self._settings = stream, settings
        self._ids = count()
        self._under_way: deque[_Sent] = deque()
        self._quiet_until = 0.0
        self._broken = False  # whether the next bytes are unknown
        self._proven = False  # whether a response other than that of ApiVersions arrived
        self.used = time.monotonic()
        self.expires: float | None = None
        self.versions: Mapping[int, tuple[int, int]] = {}

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
            made._introduce()
        except BaseException:
            made.close()
            raise
        return made

    @property
    def endpoint(self) -> BrokerEndpoint:
        return self._stream.endpoint

    @property
    def idle(self) -> bool:
        """Whether another caller may use it now: no response is outstanding, and nothing failed."""
        return not self._under_way and not self._broken

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
        key, correlation_id = body.api_key or 0, next(self._ids) & 0x7FFFFFFF
        client_id = self._settings.text("client.id")
        parts = headers.write_request(body, correlation_id, client_id, version)
        self._broken = True
        self._stream.send(parts, self._settings.seconds("request.timeout.ms"))
        self._broken = False
        self._under_way.append(_Sent(key, version, correlation_id))

    def forget(self) -> None:
        """The last request has no response (acks=0)."""
        self._under_way.pop()

    def receive(self, most: int = MAX_SIZE) -> Message:
        """The response to the oldest request in flight, of at most `most` bytes. Its records are
        views of a buffer that lasts as long as they do."""
        sent = self._under_way.popleft()
        self._broken = True
        try:
            frame = self._stream.frame(self._settings.seconds("request.timeout.ms"), most)
        except ConnectionLost as lost:
            raise lost if self._proven else self._doubted(lost) from None
        self._proven = self._proven or sent.key != ApiKeys.API_VERSIONS
        answer = self._read(frame, sent)
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

    def _read(self, frame: bytearray, sent: _Sent) -> Message:
        name = registry.api(sent.key).name
        # a message with records is read in place; any other one is small
        data = cast(bytes, frame)
        try:
            _check_elements(data, sent)
            found, answer = headers.read_response(data, sent.key, sent.version)
        except WireError as error:
            raise BadAnswer(
                f"broker {self.endpoint}: its answer to {name} version {sent.version} cannot be read: {error}"
            ) from error
        if found != sent.correlation_id:
            wrong = f"its answer to {name} has the correlation id {found} instead of {sent.correlation_id}"
            raise BadAnswer(f"broker {self.endpoint}: {wrong}")
        return answer

    def _agree(self) -> None:
        answer = self._request_versions(FIRST_VERSION)
        if answer.error_code == error_codes.UNSUPPORTED_VERSION:
            own = next((each.max_version for each in answer.api_keys if each.api_key == ApiKeys.API_VERSIONS), 0)
            answer = self._request_versions(max(0, min(own, FIRST_VERSION - 1)))
        if answer.error_code:
            raise refusal(f"broker {self.endpoint} answers ApiVersions", answer.error_code)
        self.versions = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}

    def _request_versions(self, version: int) -> ApiVersionsResponse:
        body = ApiVersionsRequest(client_software_name="kafkadouble", client_software_version="1")
        answer = self.ask(body, version)
        assert isinstance(answer, ApiVersionsResponse)
        return answer

    def _doubted(self, lost: ConnectionLost) -> ConnectionLost:
        """The hint for a closed connection: a broker that requires TLS or SASL closes it, sometimes
        after it has sent its versions."""
        protocol = self._settings.text("security.protocol")
        return ConnectionLost(f"{lost}; is security.protocol={protocol} right for it?")

    def _introduce(self) -> None:
        if (self._settings.text("security.protocol") or "").startswith("SASL_"):
            from .security import authenticate

            self.expires = authenticate(self, self._settings)

    def __repr__(self) -> str:
        return f"connection to {self.endpoint}, {len(self._under_way)} requests under way"


def _check_elements(frame: bytes, sent: _Sent) -> None:
    """Raises WireError for a response that would become far more objects than bytes."""
    if len(frame) <= MOST_ELEMENTS:
        return
    api = registry.api(sent.key)
    tagged = api.response_header_version(sent.version)
    if (tagged and frame[4]) or exceed(api.response, frame, sent.version, 5 if tagged else 4, MOST_ELEMENTS):
        raise WireError(f"more than {MOST_ELEMENTS} elements, or tags before them")
