"""A connection of a listener with SASL: until its client is authenticated, only frames of the
authentication pass (KIP-43, KIP-152, KIP-368).

Rules. `SaslServerAuthenticator` decides about each frame. A request that it admits is handled as on
any connection, so it is traced, and faults apply to it. A frame without a header, which clients
send after SaslHandshake version 0, is never traced. No log line shows the bytes of a frame. Before
the authentication a frame has at most `sasl.server.max.receive.size` bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes

from .. import dispatch
from ..requests.answer import Answer
from ..requests.codec import MalformedRequest, UnsupportedVersion, read_head, read_request, served_api
from ..requests.request import Peer
from ..requests.timers import Timer
from ..requests.waiting import Wait
from ..security.sasl.failure_delay import delay_ms, delayed
from ..security.sasl.server_authenticator import CLOSE, FAIL, HANDLE, TOKEN, SaslServerAuthenticator, SaslState
from .connection import Connection
from .connection_state import NEXT, OVER, REQUEST_BEGUN
from .line import Line

if TYPE_CHECKING:
    from ..node import Node

NO_REQUEST = (
    "sent bytes that are no request of SASL: is it a client with another security.protocol, or an old one that does "
    "not know KIP-43?"
)
HINT = " (security.protocol=SASL_PLAINTEXT or SASL_SSL in the client?)"


class SaslConnection(Connection):
    """A connection whose client authenticates."""

    def __init__(self, node: Node, peer: Peer, line: Line, max_frame: int) -> None:
        super().__init__(node, peer, line, max_frame)
        self._sasl = peer.authenticator = SaslServerAuthenticator(peer, node.sasl.enabled(peer.listener.name))
        self._most = max_frame
        self._most_before = min(max_frame, node.settings.int("sasl.server.max.receive.size"))
        self.frames.max_size = self._most_before
        self._failing: Timer | None = None  # while the end of the connection is delayed

    def _begin(self, frame: bytes, now: int) -> None:
        admission = self._sasl.admit(int.from_bytes(frame[:2], signed=True), now)
        if admission is HANDLE:
            super()._begin(frame, now)
        elif admission is TOKEN:
            self._take_token(frame, now)
        elif admission is CLOSE:
            self.end(self._sasl.failure + (HINT if self._sasl.is_first else ""))
        elif admission is FAIL:
            self._end_later(now)
        else:
            self._refuse(frame, now)

    def _take_token(self, frame: bytes, now: int) -> None:
        """A message of the mechanism without a header, after SaslHandshake version 0."""
        self.node.advance(now)
        answer = self._sasl.on_token(frame, now)
        if answer.error_code:
            self._end_later(now)
            return
        self._line.write([len(answer.response).to_bytes(4), answer.response])
        self._settle()

    def _refuse(self, frame: bytes, now: int) -> None:
        """Answers another request in place of SaslAuthenticate, after the delay."""
        try:
            head = read_head(frame)
            self.last_head = head
            request = read_request(frame, head, served_api(head, self._apis), self.peer, now)
        except MalformedRequest as invalid:
            self._reject(frame, invalid, 0)
            return
        self._request = request
        message = self._sasl.refuse_request(request.api_key)
        self.state = NEXT[self.state][REQUEST_BEGUN]
        if self._trace.is_on:
            self._trace_begin(request, frame, self._trace.nanos()).waits()
        self._queued += request.size
        steps: Wait[Answer] = delayed(
            self.node, lambda: dispatch.refused(request, error_codes.ILLEGAL_SASL_STATE, message)
        )
        self._task = self.node.begin(steps, self._answered, now)

    def _reject(self, frame: bytes, invalid: MalformedRequest, began_ns: int) -> None:
        """A frame that is no request may be a password: before the authentication it is neither
        logged nor traced."""
        if self._sasl.state is SaslState.COMPLETE or isinstance(invalid, UnsupportedVersion):
            super()._reject(frame, invalid, began_ns)
        else:
            self.end(NO_REQUEST)

    def _answered(self, answer: Answer) -> None:
        super()._answered(answer)
        self._settle()

    def _settle(self) -> None:
        """Follows the state of the authentication."""
        state = self._sasl.state
        if state is SaslState.COMPLETE:
            self.frames.max_size = self._most
        elif state is SaslState.FAILED and self.state not in OVER:
            self.end(self._sasl.failure)
        else:
            self.frames.max_size = self._most_before

    def _end_later(self, now: int) -> None:
        """Ends the connection without an answer, after the delay."""
        until = now + delay_ms(self.node)
        self.mute(until)
        self._failing = self.node.waiting.timers.at(until, self._end_failed)

    def _end_failed(self, now: int) -> None:
        self._failing = None
        if self.state not in OVER:
            self.end(self._sasl.failure)

    def _forget(self) -> None:
        super()._forget()
        if self._failing is not None:
            self._failing.cancel()
            self._failing = None
