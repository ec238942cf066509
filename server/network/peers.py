"""Sends the requests of a replica to the other nodes, and returns their responses to the replica.

- Every call into the replica is on the loop's thread, with the clock's time. After each call, its
  outgoing requests and its next deadline are read.
- Each peer has one connection, with one request in flight.
- The connection is closed when the peer is unreachable, silent or sends something invalid. The next
  attempt waits for a backoff, which doubles with each failure. The same failure is logged once. A
  peer can cause no other damage.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress

from kafkadouble.messages import registry
from kafkadouble.messages.message import Message
from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.frame import MAX_SIZE

from ..client.client_connection import BadPeer, Versions
from ..raft.outbound_channel import OutboundChannel
from ..raft.request_manager import OutboundRequest, RequestFailure
from ..raft.voters import VoterEndpoint
from ..requests.timers import NEVER
from .clock import Clock, seconds_of, stands_still
from .peer_connection import PeerConnection
from .peer_security import PLAINTEXT, PeerSecurity

log = ClientLog("kafkadouble.server.network")

BACKOFF_MS, BACKOFF_MAX_MS = 50, 500
"""The backoff in ms after the first failure, and its maximum, as in Kafka's controllers."""

IDLE_S = 60
"""A connection without a request for this many seconds is closed."""

MOST_KNOWN = 1000
"""The number of peers whose last failure and versions are kept."""


class Peers:
    """The connections of a replica to its peers.

    `timeout_ms` is `controller.quorum.request.timeout.ms`. `moved` is called after each call into
    the replica, and must call `pump`. `troubles` has the last failure of each peer that did not
    answer. `versions` has the API versions of each peer at its last connection.
    """

    def __init__(
        self,
        replica: OutboundChannel,
        clock: Clock,
        *,
        client_id: str,
        timeout_ms: int,
        max_frame: int = MAX_SIZE,
        moved: Callable[[], None] | None = None,
        security: PeerSecurity = PLAINTEXT,
    ) -> None:
        self.replica, self.clock, self.client_id = replica, clock, client_id
        self.timeout_ms, self.max_frame = timeout_ms, max_frame
        self._moved = moved or self.pump
        self.security = security
        """That of the next connections."""
        self.troubles: dict[VoterEndpoint, str] = {}
        self.versions: dict[VoterEndpoint, Versions] = {}
        self.lines: dict[VoterEndpoint, _Line] = {}
        self._loop: asyncio.AbstractEventLoop | None = None  # from `start` to `stop`
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due = NEVER  # the deadline of the timer, by the replica's clock

    def start(self) -> None:
        """Starts on the running loop."""
        self._loop = asyncio.get_running_loop()
        self._tick()

    async def stop(self) -> None:
        """Closes every connection; the replica gets no more responses."""
        self._loop = None
        if self._timer is not None:
            self._timer.cancel()
        await asyncio.gather(*(line.end() for line in list(self.lines.values())))

    def forget(self) -> None:
        """Closes every connection without waiting. The replica is not used any more."""
        self._loop = None
        if self._timer is not None:
            self._timer.cancel()
        for line in self.lines.values():
            line.cancel()

    def pump(self) -> None:
        """Sends the outgoing requests of the replica and sets the timer. Call it after each call
        into the replica from elsewhere."""
        if self._loop is None:
            return
        for send in self.replica.take_outgoing():
            line = self.lines.get(send.to.endpoint)
            if line is None:
                line = self.lines[send.to.endpoint] = _Line(self, send.to.endpoint)
            line.put(send)
        self._reschedule()

    def bring(self, send: OutboundRequest, answer: Message | RequestFailure) -> None:
        """Hands the response, or the failure, of a request to the replica."""
        if self._loop is not None:
            self.replica.answered(send.token, answer, self.clock.now())
            self._moved()

    def _tick(self) -> None:
        self._timer, self._timer_due = None, NEVER
        self.replica.tick(self.clock.now())
        self._moved()

    def _reschedule(self) -> None:
        """Sets the timer to the replica's next deadline. If the clock stands still, the replica is
        called when it is advanced, unless the deadline has passed."""
        deadline, now = self.replica.next_deadline(), self.clock.now()
        if self._loop is None or (deadline or NEVER) == self._timer_due:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._timer_due = None, NEVER
        if deadline is not None and not (deadline > now and stands_still(self.clock)):
            self._timer_due = deadline
            delay = 0 if deadline <= now else seconds_of(self.clock, deadline - now)
            self._timer = self._loop.call_later(delay, self._tick)

    def clock_changed(self) -> None:
        """Sets the timer again: the clock stands still, goes on, or goes faster or slower."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._timer_due = None, NEVER
        self._reschedule()

    def __repr__(self) -> str:
        return f"{len(self.lines)} peers of {self.replica!r}"


class _Line:
    """The queue of requests to one peer, and its connection, if there is one."""

    def __init__(self, peers: Peers, endpoint: VoterEndpoint) -> None:
        self._peers, self.endpoint = peers, endpoint
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Queue[OutboundRequest] = asyncio.Queue()
        self._connection: PeerConnection | None = None
        self._failures, self._alone_until = 0, 0.0
        self._task = self._loop.create_task(self._run())

    def put(self, send: OutboundRequest) -> None:
        """Sends a request after the earlier ones are answered."""
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
        """The next request; None after a long time without one, when this line is removed."""
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
            trouble = _reason(problem)
        # A failure of this node: a request that cannot be encoded.
        except Exception as problem:
            trouble = f"{type(problem).__name__}: {problem}"
        else:
            self._failures = 0
            if answer is RequestFailure.UNSUPPORTED_VERSION:
                api = registry.api(send.body.api_key or 0).name
                self._note(f"it serves no {api} from version {send.lowest} to {send.version}")
            elif self._peers.troubles.pop(self.endpoint, None) is not None:
                log.info("%s:%d answers again", *self.endpoint)
            return answer
        await self._went_wrong(trouble)
        return RequestFailure.LOST

    async def _connected(self) -> PeerConnection:
        # The connection was closed while no request was in flight.
        if self._connection is not None and not self._connection.is_open:
            await self._hang_up()
        if self._connection is None:
            peers = self._peers
            self._connection = await PeerConnection.open(
                self.endpoint, peers.client_id, peers.max_frame, peers.security
            )
            if len(peers.versions) >= MOST_KNOWN:
                del peers.versions[next(iter(peers.versions))]
            peers.versions[self.endpoint] = self._connection.versions
        return self._connection

    async def _went_wrong(self, trouble: str) -> None:
        await self._hang_up()
        self._alone_until = self._loop.time() + min(BACKOFF_MS << min(self._failures, 10), BACKOFF_MAX_MS) / 1000
        self._failures += 1
        self._note(trouble)

    def _note(self, trouble: str) -> None:
        if self._peers.troubles.get(self.endpoint) != trouble:
            # A limit is needed: any node can name the endpoints of new voters.
            if len(self._peers.troubles) >= MOST_KNOWN:
                del self._peers.troubles[next(iter(self._peers.troubles))]
            self._peers.troubles[self.endpoint] = trouble
            log.warning("%s:%d: %s", *self.endpoint, trouble)

    async def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.abort()
            await connection.ended()


def _reason(problem: Exception) -> str:
    """The failure without the address, which the caller adds. The numbers of errors of TLS are not
    those of the system."""
    if why := getattr(problem, "verify_message", None):
        return f"its certificate is not trusted: {why}"
    number = problem.errno if isinstance(problem, OSError) and not hasattr(problem, "reason") else None
    return os.strerror(number).lower() if number is not None and number > 0 else str(problem)
