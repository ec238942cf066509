"""One client connection, without its socket: takes bytes, hands requests to the node one after the
other, and writes the answers in the same order.

Rules. The table of `connection_state.py` says when a request may begin; frames that come
meanwhile wait in the backlog, and while there is a backlog the socket is not read. Bytes that are
not a request end the connection, with one log line that names the client, the API, the version,
the byte and the field. So does a version that is not served; only ApiVersions is then answered, in
its version 0 (KIP-511). This file never blocks, and no bytes of a peer make it raise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from types import GeneratorType
from typing import TYPE_CHECKING, Any, cast

from kafkadouble.messages import headers
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.headers import RequestHead
from kafkadouble.messages.message import Message
from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import WireError
from kafkadouble.wire.file_slice import in_one_piece
from kafkadouble.wire.frame import Frames

from .. import dispatch
from ..apis.row import ServedApi
from ..requests import close_reasons
from ..requests.answer import Altered, Answer, Disconnection, decoded, message_of
from ..requests.aside_codec import is_wide, is_wide_answer, read_aside, write_aside
from ..requests.codec import (
    MalformedRequest,
    UnsupportedVersion,
    read_head,
    read_request,
    served_api,
    write_response,
)
from ..requests.request import Peer, Request, acts_for_none
from ..requests.timers import Timer
from ..requests.waiting import OTHERS_FIRST, HandlerTask, Wait
from ..security.acting_nodes import may_act_for
from ..tracing.trace import ABANDONED, ANSWERED, DISCONNECTED, UNANSWERED, RefusedVersion
from .connection_state import (
    ENDED,
    LOST,
    MUTED,
    NEXT,
    OPEN,
    OVER,
    PEER_DRAINED,
    PEER_SLOW,
    REQUEST_BEGUN,
    REQUEST_DONE,
    THROTTLE_ENDED,
    THROTTLE_STARTED,
)
from .line import ENDED_LINE, Line

if TYPE_CHECKING:
    from ..node import Node
    from ..tracing.trace import TracedRequest

log = ClientLog("kafkadouble.server.network")


TURN = 8
"""Requests of one peer that are begun before other connections have their turn, if the line's own
turn is not over earlier."""


class Connection:
    """One connection. `state` moves by the table of `connection_state.py` alone."""

    def __init__(self, node: Node, peer: Peer, line: Line, max_frame: int) -> None:
        self.node, self.peer, self._line, self._apis = node, peer, line, peer.apis
        self.frames = Frames(max_frame)
        self.backlog: deque[bytes] = deque()
        self.state = OPEN
        self._restrained = False  # by the memory pool
        self._held = self._unsent = 0  # as the node knows them
        self._queued = 0  # bytes of the backlog, and of the request that waits
        self._request: Request[Any] | None = None
        self._task: HandlerTask | None = None
        self._buffers: Sequence[Any] | None = None  # of a large answer that was written before
        self._throttle: Timer | None = None  # while the connection is muted
        self.last_head: RequestHead | None = None  # of the latest request that was begun
        peer.may_act_for = partial(may_act_for, node, peer)
        self._trace = node.trace
        if self._trace.is_on:
            self._trace.connected(peer)

    def receive(self, data: bytes, now: int) -> None:
        """Takes bytes as they come."""
        is_open = self.state is OPEN
        if not is_open and self.state in OVER:
            return
        try:
            frames = self.frames.feed(data)
        except WireError as error:
            self.end(close_reasons.no_frame(error, data))
            return
        mostly = is_open and len(frames) == 1 and not (self.backlog or self._line.turn_is_over(False))
        if mostly:
            self._begin(frames[0], now)
        else:
            if frames and self.state is MUTED and self._trace.is_on:
                self._trace.arrived_throttled(self.peer, len(self.backlog), len(frames), now)
            self.backlog.extend(frames)
            self._queued += sum(map(len, frames))
            self.pump(now)
        if self._held or self._queued or self.frames.buffered:
            self._note(now)

    def pump(self, now: int) -> None:
        """Begins the requests of the backlog for as long as the node answers at once and the state
        allows it."""
        left = TURN
        while self.backlog and self.state is OPEN:
            if not left or self._line.turn_is_over(True):
                self._line.others_first()
                break
            left -= 1
            frame = self.backlog.popleft()
            self._queued -= len(frame)
            self._begin(frame, now)
        self._read_on()

    @property
    def owes_answers(self) -> bool:
        """Whether requests that were read are not answered yet, or not with all pieces."""
        return bool(self.backlog or self._request or self._task or self._throttle)

    def _note(self, now: int) -> None:
        """Reports to the node how many bytes of unanswered requests are held here."""
        self._held = 0 if self.state in OVER else self.frames.buffered + self._queued
        self.node.intake.note(self, self._held, now)

    def restrain(self, restrained: bool) -> None:
        """Stops reading because all connections together hold too much, or reads again."""
        self._restrained = restrained
        self._read_on()

    def _read_on(self) -> None:
        if self.state not in OVER:
            self._line.read_on(not (self.backlog or self._restrained))

    def mute(self, until: int) -> None:
        """Throttles the connection: it begins no request before the time `until` (ms)."""
        self.state = NEXT[self.state][THROTTLE_STARTED]
        if self.state in OVER:
            return
        if self._throttle is not None:
            until = max(until, self._throttle.deadline)
            self._throttle.cancel()
        self._throttle = self.node.waiting.timers.at(until, self._unmute)

    def _unmute(self, now: int) -> None:
        self._throttle = None
        self.state = NEXT[self.state][THROTTLE_ENDED]
        if self.backlog:
            self._line.others_first()
        else:
            self._read_on()

    def choke(self, unsent: int) -> None:
        """The peer does not read its answers, and this many bytes are unsent: begin no request."""
        self.state = NEXT[self.state][PEER_SLOW]
        self._report_unsent(unsent)

    def unchoke(self, now: int) -> None:
        """The peer has read everything that was written."""
        self.state = NEXT[self.state][PEER_DRAINED]
        self._report_unsent(0)
        self.pump(now)

    def _report_unsent(self, unsent: int) -> None:
        self.node.unsent += unsent - self._unsent
        self._unsent = unsent

    def _begin(self, frame: bytes, now: int) -> None:
        """Hands one request to the node. It is one function because every request passes here, and
        a call costs more than most of its lines."""
        is_traced, began_ns = self._trace.is_on, 0
        if is_traced:
            began_ns = self._trace.nanos()
        try:
            head = read_head(frame)
            self.last_head = head
            served = served_api(head, self._apis)
            if is_wide(frame, head, served):
                # A large request lets others go first.
                self.state = NEXT[self.state][REQUEST_BEGUN]
                self._queued += len(frame)
                self._task = self.node.begin(self._wide(frame, head, served, now, began_ns), self._answered, now)
                return
            self._request = request = read_request(frame, head, served, self.peer, now)
        except MalformedRequest as invalid:
            self._reject(frame, invalid, began_ns)
            return
        self.state = NEXT[self.state][REQUEST_BEGUN]
        if is_traced:
            self._trace_begin(request, frame, began_ns)
        task = self.node.submit(request, self._answered, now)
        if task is not None:
            self._task = task
            self._queued += request.size
            if is_traced:
                request.trace.waits()

    def _wide(self, frame: bytes, head: RequestHead, served: ServedApi, received: int, began_ns: int) -> Wait[Answer]:
        try:
            self._request = request = yield from read_aside(frame, head, served, self.peer, received)
        except MalformedRequest as invalid:
            self._reject(frame, invalid, began_ns)
            return None
        if self._trace.is_on:
            self._trace_begin(request, frame, began_ns).waits()
        yield OTHERS_FIRST
        result = dispatch.answer(self.node, request)
        answer = cast(Answer, (yield from result) if isinstance(result, GeneratorType) else result)
        message = message_of(answer)
        return answer if message is None else (yield from self._written(request, answer, message))

    def _written(self, request: Request[Any], answer: Answer, message: Message) -> Wait[Answer]:
        """Writes a large answer before it is sent."""
        self._buffers = ()
        with suppress(Exception):  # which is met again, and reported, when it is sent
            self._buffers = yield from write_aside(request, message)
        return answer

    def _trace_begin(self, request: Request[Any], frame: bytes, began_ns: int) -> TracedRequest:
        traced = self._trace.begin(request, began_ns)
        if self._trace.keeps_frames:
            traced.request_frame = frame
        return traced

    def _reject(self, frame: bytes, invalid: MalformedRequest, began_ns: int) -> None:
        """Ends the connection over a frame that is not a request that is served, except
        ApiVersions."""
        if isinstance(invalid, UnsupportedVersion) and invalid.head.api_key == ApiKeys.API_VERSIONS:
            # The client may ask again in a version that is served (KIP-511).
            from ..handlers.api_versions import unsupported  # not needed to start

            answer = unsupported(self._apis)
            buffers = headers.write_response(answer, invalid.head.correlation_id, ApiKeys.API_VERSIONS, 0)
            self._line.write(buffers)
            if self._trace.is_on:
                refused = RefusedVersion(frame, b"".join(buffers), answer.error_code, began_ns)
                self._trace.version_refused(self.peer, invalid.head, refused)
            return
        if self._trace.is_on:
            self._trace.rejected(self.peer, frame, began_ns)
        self.end(invalid.reason)

    def _answered(self, answer: Answer) -> None:
        """The node is done with the request. One that had to wait held up the backlog, which goes
        on now."""
        task, request = self._task, self._request
        if task is not None and is_wide_answer(task.slices) and self._buffers is None and request is not None:
            message = message_of(answer)
            if message is not None:
                steps = self._written(request, answer, message)
                self._task = self.node.begin(steps, self._answered, self.node.now)
                return
        self._request = None
        self.state = state = NEXT[self.state][REQUEST_DONE]
        is_over = state is not OPEN and state in OVER
        if request is None:  # the frame could not be decoded
            if not is_over:
                self.end("cannot be answered")
            return
        if task is not None:
            self._task = None
            self._queued -= request.size
        if answer is not None and not is_over:
            if answer.__class__ is Disconnection:
                if request.trace is not None:
                    request.trace.end(DISCONNECTED, self.node.now)
                self.end(f"{close_reasons.client(request.client_id)} is disconnected at {request!r}")
            elif answer.__class__ is Altered:
                self._send_altered(request, answer)
            else:
                self._send(request, answer)
        elif request.trace is not None:
            request.trace.end(ABANDONED if is_over else UNANSWERED, self.node.now)
        self._buffers = None
        if self._held:
            self._note(self.node.now)
        if task is not None and self.backlog:
            self.pump(self.node.now)

    def _send(self, request: Request[Any], answer: Any) -> None:
        try:
            buffers = self._buffers or write_response(request, answer)
        except Exception:  # a defect ends one connection
            log.exception("the answer to %r cannot be written", request)
            if request.trace is not None:
                request.trace.end(DISCONNECTED, self.node.now)
            self.end("cannot be answered")
            return
        if request.trace is None:
            self._line.write(buffers)
        else:
            # Counted before they are written: slices of files grow shorter as they go out.
            sent = sum(map(len, buffers))
            if self._trace.keeps_frames:
                buffers = [in_one_piece(buffers)]
                request.trace.response_frame = buffers[0]
            self._line.write(buffers)
            request.trace.end(ANSWERED, self.node.now, answer, sent)

    def _send_altered(self, request: Request[Any], answer: Altered) -> None:
        """Sends an answer as a fault rule or a quota has it, in memory and all of it or slowly."""
        from .altered_frame import pieces_of

        if answer.message is None:
            if request.trace is not None:
                request.trace.end(UNANSWERED, self.node.now)
            self.mute(self.node.now + answer.mute_ms)
            return
        buffers = self._buffers or write_response(request, answer.message)
        pieces, gap_ms = pieces_of(in_one_piece(buffers), answer.framing)
        self._line.write([pieces[0]])
        for index, piece in enumerate(pieces[1:], 1):
            self.node.waiting.timers.at(self.node.now + index * gap_ms, partial(self._send_piece, piece))
        if request.trace is not None:
            if self._trace.keeps_frames:
                request.trace.response_frame = b"".join(pieces)
            request.trace.end(ANSWERED, self.node.now, decoded(answer), sum(map(len, pieces)))
        muted_ms = max(answer.mute_ms, (len(pieces) - 1) * gap_ms)
        if answer.framing is not None and answer.framing.closes:
            self.end(f"{close_reasons.client(request.client_id)} gets a part of the answer to {request!r}")
        elif muted_ms:
            self.mute(self.node.now + muted_ms)

    def _send_piece(self, piece: bytes, now: int) -> None:
        if self.state not in OVER:
            self._line.write([piece])

    def end(self, why: str) -> None:
        """Closes the connection, and log why."""
        log.warning("%r %s: closing", self.peer, why)
        self.state = NEXT[self.state][ENDED]
        self._forget()
        self._line.close()

    def lost(self) -> None:
        """The socket is gone: drop the request that waits."""
        self.state = NEXT[self.state][LOST]
        self._forget()
        self._report_unsent(0)
        request, self._request = self._request, None
        if self._task is not None:
            self._task.close()
            self._task = None
            if request is not None and request.trace is not None:
                request.trace.end(ABANDONED, self.node.now)
        for listener in self.peer.on_disconnect:
            listener(self.peer.id)
        if self._trace.is_on:
            self._trace.disconnected(self.peer)
        self._line, self.peer.may_act_for = ENDED_LINE, acts_for_none

    def _forget(self) -> None:
        """Frees what was not handled. Circles of references keep this object for a while."""
        self.backlog.clear()
        self.frames.clear()
        if self._throttle is not None:
            self._throttle.cancel()
            self._throttle = None
        if self._held:
            self._note(self.node.now)
