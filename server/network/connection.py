"""One client connection, without its socket: bytes in, requests to the node one after the other, answers out in their order.

Rules. As in Kafka, a connection has one request under way; what comes meanwhile waits in the backlog. Bytes that are no request end the
connection, with one log line that names the client, the API, the version, the byte and the field; so does a version that is not served, but
for ApiVersions, which is answered in its version 0 (KIP-511). This file never blocks and never raises.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from types import GeneratorType
from typing import TYPE_CHECKING, Any, Protocol, cast

from kafkadouble.messages import headers
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.cut import cut_texts
from kafkadouble.messages.headers import RequestHead
from kafkadouble.wire.errors import UsageError, WireError
from kafkadouble.wire.frame import Frames

from .. import dispatch
from ..apis.row import ServedApi
from ..handlers.api_versions import unsupported
from ..requests import close_reasons
from ..requests.answer import Answer, Disconnect
from ..requests.bounds import MOST_ELEMENTS, has_too_many
from ..requests.gc_pause import all_kept
from ..requests.request import Peer, Request
from ..requests.waiting import OTHERS_FIRST, HandlerTask, Wait
from ..tracing.capture import ABANDONED, DISCONNECTED, UNANSWERED

if TYPE_CHECKING:
    from ..node import Node

log = logging.getLogger("kafkadouble.server.network")


TURN = 8
"""How many of the requests that a peer sent ahead are begun before other connections have their turn, if the line's own is not over."""

WIDE = MOST_ELEMENTS
"""A frame of more bytes may take long to decode, unless it is large because of the records in it."""

Buffers = Sequence[bytes | bytearray | memoryview]


class Line(Protocol):
    """What carries the bytes of a connection: a socket, or a test."""

    def write(self, buffers: Buffers) -> None:
        """Send the buffers of one answer."""

    def close(self) -> None:
        """End the connection once what was written is out."""

    def read_on(self, wanted: bool) -> None:
        """Whether more bytes are wanted now."""

    def others_first(self) -> None:
        """Have `pump` called when other connections have had their turn."""

    def turn_is_over(self, ahead: bool) -> bool:
        """Whether requests have been begun for so long that other things have their turn; those that peers sent `ahead` have one of
        their own, so that a peer that waits for its answers does not wait for them."""
        ...


class Connection:
    """The state of one connection."""

    def __init__(self, node: Node, peer: Peer, line: Line, max_frame: int) -> None:
        self.node, self.peer, self._line, self._apis = node, peer, line, peer.apis
        self.frames = Frames(max_frame)
        self.backlog: deque[bytes] = deque()
        self.busy = self.closed = self.choked = self.restrained = self._pumping = False
        self._reads = True  # what the line was told last
        self._held = self._unsent = 0  # what the node was told last
        self._queued = 0  # bytes of the backlog, and of the request that waits
        self._request: Request[Any] | None = None
        self._task: HandlerTask | None = None
        self.last_api = -1  # the key of the latest request that was begun
        self._tap = None if node.capture is None else node.capture.connection(node.id, peer)

    def receive(self, data: bytes, now: int) -> None:
        """Take bytes as they come."""
        if self.closed:
            return
        try:
            frames = self.frames.feed(data)
        except WireError as error:
            self.end(close_reasons.no_frame(error, data))
            return
        if len(frames) == 1 and not (
            self.backlog or self.busy or self.choked or self._line.turn_is_over(False)
        ):  # mostly
            self._begin(frames[0], now)
        else:
            self.backlog.extend(frames)
            self._queued += sum(map(len, frames))
            self.pump(now)
        if self._held or self._queued or self.frames.buffered:
            self._note(now)

    def pump(self, now: int) -> None:
        """Hand requests to the node while it answers at once, and while the peer takes the answers."""
        if self._pumping:
            return
        self._pumping, left = True, TURN
        while self.backlog and not (self.busy or self.closed or self.choked):
            if not left or self._line.turn_is_over(True):
                self._line.others_first()
                break
            left -= 1
            frame = self.backlog.popleft()
            self._queued -= len(frame)
            self._begin(frame, now)
        self._pumping = False
        self._read_on()

    def _note(self, now: int) -> None:
        """Tell the node what is held here of requests that are not answered."""
        self._held = 0 if self.closed else self.frames.buffered + self._queued
        self.node.intake.note(self, self._held, now)

    def restrain(self, restrained: bool) -> None:
        """All connections together hold too much, or no longer."""
        self.restrained = restrained
        self._read_on()

    def _read_on(self) -> None:
        wanted = not (self.backlog or self.restrained)
        if wanted is not self._reads and not self.closed:
            self._reads = wanted
            self._line.read_on(wanted)

    def choke(self, unsent: int) -> None:
        """The peer does not read its answers, of which so many bytes are left: begin nothing new."""
        self.choked = True
        self._tell_unsent(unsent)

    def _tell_unsent(self, unsent: int) -> None:
        self.node.unsent += unsent - self._unsent
        self._unsent = unsent

    def unchoke(self, now: int) -> None:
        """The peer reads again."""
        self.choked = False
        self._tell_unsent(0)
        self.pump(now)

    def _begin(self, frame: bytes, now: int) -> None:
        """Hand one request to the node. One function, as every request passes here, and a call costs more than most of its lines."""
        if self._tap is not None:
            self._tap.began = self._tap.nanos()
        try:
            head = headers.read_request_header(frame, 0, MOST_ELEMENTS)
        except WireError as error:
            self._turn_away(frame, close_reasons.bad_header(frame, error))
            return
        served = self._apis.get(head.api_key)
        version, self.last_api = head.api_version, head.api_key
        if served is None or not served.lowest <= version <= served.highest:
            self._unsupported(head, served, frame)
            return
        if len(frame) > WIDE and not served.request._bulky:
            self._begin_wide(head, served, frame, now)
            return
        request = self._decoded(head, served, frame, now)
        if request is None:
            return
        self._request = request
        self.busy = True
        task = self.node.submit(request, self._answered, now)
        if task is not None:
            self._task = task
            self._queued += request.size

    def _decoded(self, head: RequestHead, served: ServedApi, frame: bytes, received: int) -> Request[Any] | None:
        """The request in a frame; None, and the connection ends, where there is none."""
        if has_too_many(served.request, frame, head):
            self._turn_away(frame, close_reasons.too_many(head, MOST_ELEMENTS))
            return None
        try:
            # Bytes behind the body are passed over, as Kafka does: librdkafka asks for all topics with three too many.
            body, _ = served.request.read(frame, head.api_version, head.body_offset)
        except WireError as error:
            self._turn_away(frame, close_reasons.bad_body(head, error))
            return None
        return Request(
            head.api_key, head.api_version, head.correlation_id, head.client_id, body, self.peer, received, len(frame)
        )

    def _begin_wide(self, head: RequestHead, served: ServedApi, frame: bytes, now: int) -> None:
        """Hand in a request that others go before: its decoding, its handling and its answer are steps of their own."""
        self.busy, size = True, len(frame)
        self._queued += size

        def answered(answer: Answer) -> None:
            self._queued -= size
            self._task = None
            self._answered(answer)

        self._task = self.node.begin(self._wide(head, served, frame, now), answered, now)

    def _wide(self, head: RequestHead, served: ServedApi, frame: bytes, received: int) -> Wait[Answer]:
        yield OTHERS_FIRST
        with all_kept():
            self._request = request = self._decoded(head, served, frame, received)
        if request is None:
            return None
        yield OTHERS_FIRST
        result = dispatch.answer(self.node, request)
        answer = (yield from result) if isinstance(result, GeneratorType) else result
        yield OTHERS_FIRST
        return cast(Answer, answer)

    def _turn_away(self, frame: bytes, why: str) -> None:
        """End the connection over a frame that is no request that is served."""
        if self._tap is not None:
            self._tap.turned_away(frame)
        self.end(why)

    def _unsupported(self, head: RequestHead, served: ServedApi | None, frame: bytes) -> None:
        if head.api_key == ApiKeys.API_VERSIONS:
            answer = unsupported(self._apis)
            buffers = headers.write_response(answer, head.correlation_id, ApiKeys.API_VERSIONS, 0)
            self._line.write(buffers)
            if self._tap is not None:
                self._tap.not_served(head, len(frame), answer.error_code, sum(map(len, buffers)))
        else:
            self._turn_away(frame, close_reasons.not_served(head, served))

    def _answered(self, answer: Answer) -> None:
        request, self._request, self.busy = self._request, None, False
        if request is None:  # it could not be decoded
            if not self.closed:
                self.end("cannot be answered")
            return
        if self._task is not None:
            self._task = None
            self._queued -= request.size
        if answer is not None and not self.closed:
            if answer.__class__ is Disconnect:
                if self._tap is not None:
                    self._tap.unanswered(request, DISCONNECTED)
                self.end(f"{close_reasons.client(request.client_id)} is disconnected at {request!r}")
            else:
                self._send(request, answer)
        elif self._tap is not None:
            self._tap.unanswered(request, ABANDONED if self.closed else UNANSWERED)
        if self._held:
            self._note(self.node.now)
        if self.backlog:
            self.pump(self.node.now)

    def _send(self, request: Request[Any], answer: Any) -> None:
        try:
            buffers = headers.write_response(answer, request.correlation_id, request.api_key, request.version)
        except Exception as problem:
            if isinstance(problem, UsageError) and cut_texts(answer):
                self._send(request, answer)
                return
            log.exception("the answer to %r cannot be written", request)
            if self._tap is not None:
                self._tap.unanswered(request, DISCONNECTED)
            self.end("cannot be answered")
            return
        if self._tap is None:
            self._line.write(buffers)
        else:
            sent = sum(map(len, buffers))  # now: stretches of files grow shorter as they go out
            self._line.write(buffers)
            self._tap.answered(request, answer, sent)

    def end(self, why: str) -> None:
        """Close, and say why."""
        log.warning("%r %s: closing", self.peer, why)
        self._forget()
        self._line.close()

    def lost(self) -> None:
        """The connection is gone: whatever it waited for is dropped."""
        self._forget()
        self._tell_unsent(0)
        if self._task is not None:
            self._task.close()
            self._task = None
            if self._tap is not None and self._request is not None:
                self._tap.unanswered(self._request, ABANDONED)

    def _forget(self) -> None:
        self.closed = True
        self.backlog.clear()
        if self._held:
            self._note(self.node.now)
