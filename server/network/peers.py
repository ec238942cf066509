"""The shell of a replica: what it wants sent goes to the other nodes, and what becomes of that is brought back to it.

Rules. Every call into the replica is made on the loop's thread, with the clock's time, and is followed by a look at what it wants sent and when
it wants to be called again. Each peer has one connection, on which one request is under way. A peer that cannot be reached, is silent, or
answers with something else loses its connection and is left alone for a while, each time for twice as long; that is one line in the log, and
none while the same goes on. No peer can do more than that.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import suppress

from kafkadouble.messages import registry
from kafkadouble.messages.message import Message
from kafkadouble.wire.frame import MAX_SIZE

from ..raft.outbound_channel import OutboundChannel
from ..raft.request_manager import OutboundRequest, RequestFailure
from ..raft.voters import VoterEndpoint
from ..requests.timers import NEVER
from .clock import Clock, SteppedClock
from .peer_connection import BadPeer, PeerConnection, Versions

log = logging.getLogger("kafkadouble.server.network")

BACKOFF_MS, BACKOFF_MAX_MS = 50, 500
"""How long a peer is left alone at first, and at most, as by Kafka's own controllers."""

IDLE_S = 60
"""After so long without a request a connection is closed: nobody has use for it."""

MOST_KNOWN = 1000
"""Peers of whose troubles and versions there is a note."""


class Peers:
    """`timeout_ms` is `controller.quorum.request.timeout.ms`; `moved` is called when the replica was called, and is to `pump`; `troubles` says
    why a peer did not answer last, if it did not; `versions` what it served when it was last connected with."""

    def __init__(
        self,
        replica: OutboundChannel,
        clock: Clock,
        *,
        client_id: str,
        timeout_ms: int,
        max_frame: int = MAX_SIZE,
        moved: Callable[[], None] | None = None,
    ) -> None:
        self.replica, self.clock, self.client_id = replica, clock, client_id
        self.timeout_ms, self.max_frame = timeout_ms, max_frame
        self._moved = moved or self.pump
        self.troubles: dict[VoterEndpoint, str] = {}
        self.versions: dict[VoterEndpoint, Versions] = {}
        self.lines: dict[VoterEndpoint, _Line] = {}
        self._loop: asyncio.AbstractEventLoop | None = None  # from `start` to `stop`
        self._timer: asyncio.TimerHandle | None = None
        self._wanted = NEVER  # when the timer is due, by the replica's clock

    def start(self) -> None:
        """Begin, on the loop that runs."""
        self._loop = asyncio.get_running_loop()
        self._tick()

    async def stop(self) -> None:
        """End every connection; nothing is brought to the replica any more."""
        self._loop = None
        if self._timer is not None:
            self._timer.cancel()
        await asyncio.gather(*(line.end() for line in list(self.lines.values())))

    def forget(self) -> None:
        """The replica is no more: end every connection, soon."""
        self._loop = None
        if self._timer is not None:
            self._timer.cancel()
        for line in self.lines.values():
            line.cancel()

    def pump(self) -> None:
        """Send what the replica wants sent, and be there when it wants to be called. To be called whenever anybody else has called it."""
        if self._loop is None:
            return
        for send in self.replica.take_outgoing():
            self._line(send.to.endpoint).put(send)
        self._reschedule()

    def bring(self, send: OutboundRequest, answer: Message | RequestFailure) -> None:
        """What has become of a request."""
        if self._loop is not None:
            self.replica.answered(send.token, answer, self.clock.now())
            self._moved()

    def _line(self, endpoint: VoterEndpoint) -> _Line:
        line = self.lines.get(endpoint)
        if line is None:
            line = self.lines[endpoint] = _Line(self, endpoint)
        return line

    def _tick(self) -> None:
        self._timer, self._wanted = None, NEVER
        self.replica.tick(self.clock.now())
        self._moved()

    def _reschedule(self) -> None:
        """Tick when the replica wants it; a clock that stands still says by itself when that is, unless it is now."""
        deadline, now = self.replica.next_deadline(), self.clock.now()
        if self._loop is None or (deadline or NEVER) == self._wanted:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._wanted = None, NEVER
        if deadline is not None and not (isinstance(self.clock, SteppedClock) and deadline > now):
            self._wanted = deadline
            self._timer = self._loop.call_later(max(0, deadline - now) / 1000, self._tick)

    def __repr__(self) -> str:
        return f"{len(self.lines)} peers of {self.replica!r}"


class _Line:
    """What is to be sent to one peer, and the connection to it while there is one."""

    def __init__(self, peers: Peers, endpoint: VoterEndpoint) -> None:
        self._peers, self.endpoint = peers, endpoint
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Queue[OutboundRequest] = asyncio.Queue()
        self._connection: PeerConnection | None = None
        self._failures, self._alone_until = 0, 0.0
        self._task = self._loop.create_task(self._run())

    def put(self, send: OutboundRequest) -> None:
        """Send it as soon as what was sent before is answered."""
        self._waiting.put_nowait(send)

    def cancel(self) -> None:
        self._task.cancel()

    async def end(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        try:
            while (send := await self._next()) is not None:
                answer = await self._answer(send)
                self._loop.call_soon(self._peers.bring, send, answer)
        finally:
            await self._hang_up()

    async def _next(self) -> OutboundRequest | None:
        """What is to be sent next; None when nothing has been for long, and then this line is no more."""
        with suppress(TimeoutError):
            async with asyncio.timeout(IDLE_S):
                return await self._waiting.get()
        if not self._waiting.empty():
            return self._waiting.get_nowait()
        del self._peers.lines[self.endpoint]
        return None

    async def _answer(self, send: OutboundRequest) -> Message | RequestFailure:
        if self._connection is None and self._loop.time() < self._alone_until:
            return RequestFailure.LOST
        try:
            async with asyncio.timeout(self._peers.timeout_ms / 1000):
                answer = await (await self._connected()).ask(send.body, send.version, send.lowest)
        except TimeoutError:
            trouble = f"no answer within {self._peers.timeout_ms} ms"
        except (OSError, BadPeer) as problem:
            trouble = _said(problem)
        except Exception as problem:  # ours: a request that cannot be written
            trouble = f"{type(problem).__name__}: {problem}"
        else:
            self._went_well(send, answer)
            return answer
        await self._went_wrong(trouble)
        return RequestFailure.LOST

    async def _connected(self) -> PeerConnection:
        if self._connection is not None and not self._connection.is_open:  # ended while nothing was under way
            await self._hang_up()
        if self._connection is None:
            peers = self._peers
            self._connection = await PeerConnection.open(self.endpoint, peers.client_id, peers.max_frame)
            if len(peers.versions) >= MOST_KNOWN:
                del peers.versions[next(iter(peers.versions))]
            peers.versions[self.endpoint] = self._connection.versions
        return self._connection

    def _went_well(self, send: OutboundRequest, answer: Message | RequestFailure) -> None:
        self._failures = 0
        if answer is RequestFailure.UNSUPPORTED_VERSION:
            api = registry.api(send.body.api_key or 0).name
            self._note(f"it serves no {api} from version {send.lowest} to {send.version}")
        elif self._peers.troubles.pop(self.endpoint, None) is not None:
            log.info("%s:%d answers again", *self.endpoint)

    async def _went_wrong(self, trouble: str) -> None:
        await self._hang_up()
        self._alone_until = self._loop.time() + min(BACKOFF_MS << min(self._failures, 10), BACKOFF_MAX_MS) / 1000
        self._failures += 1
        self._note(trouble)

    def _note(self, trouble: str) -> None:
        if self._peers.troubles.get(self.endpoint) != trouble:
            if len(self._peers.troubles) >= MOST_KNOWN:  # new voters are asked where anybody says that they are
                del self._peers.troubles[next(iter(self._peers.troubles))]
            self._peers.troubles[self.endpoint] = trouble
            log.warning("%s:%d: %s", *self.endpoint, trouble)

    async def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.abort()
            await connection.ended()


def _said(problem: Exception) -> str:
    """Without the address, which whoever tells it knows."""
    number = problem.errno if isinstance(problem, OSError) else None
    return os.strerror(number).lower() if number is not None and number > 0 else str(problem)
