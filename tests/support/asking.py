"""A stand-in for a replica that sends requests through `Peers`, over real sockets, and keeps the
responses.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.message import Message
from kafkadouble.server.network.clock import Clock, SystemClock
from kafkadouble.server.network.peers import Peers
from kafkadouble.server.raft.follower_actions import FETCH_LOWEST, FETCH_VERSION
from kafkadouble.server.raft.request_manager import OutboundRequest, RaftPeer, RequestFailure
from kafkadouble.server.raft.voters import VoterEndpoint
from tests.support.scripted_peer import Line

TIMEOUT_MS = 5000
LOGGER = "kafkadouble.server.network"


class Asking:
    """A stand-in for a replica: sends the requests of a test, and keeps the responses."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.outgoing: list[OutboundRequest] = []
        self.answers: asyncio.Queue[tuple[int, Message | RequestFailure | None]] = asyncio.Queue()
        self.deadline: int | None = None
        self.ticks: list[int] = []
        self.ticked = asyncio.Event()

    def take_outgoing(self) -> list[OutboundRequest]:
        taken, self.outgoing = self.outgoing, []
        return taken

    def answered(self, token: int, response: Message | RequestFailure | None, now: int) -> None:
        assert now <= self.clock.now()
        self.answers.put_nowait((token, response))

    def tick(self, now: int) -> None:
        self.ticks.append(now)
        if self.deadline is not None and now >= self.deadline:
            self.deadline = None
            self.ticked.set()

    def next_deadline(self) -> int | None:
        return self.deadline


class Driven:
    """Peers, and the stand-in for the replica that uses them."""

    def __init__(self, endpoint: VoterEndpoint, timeout_ms: int, max_frame: int, clock: Clock) -> None:
        self.asking, self.endpoint, self._tokens = Asking(clock), endpoint, 0
        self.peers = Peers(self.asking, clock, client_id="test", timeout_ms=timeout_ms, max_frame=max_frame)

    def send(self, body: Message | None = None, version: int = FETCH_VERSION, lowest: int = FETCH_LOWEST) -> int:
        self._tokens += 1
        self.asking.outgoing.append(
            OutboundRequest(self._tokens, RaftPeer(1, self.endpoint), body or FetchRequest(), version, lowest)
        )
        self.peers.pump()
        return self._tokens

    async def ask(self, *what: Any, **how: Any) -> Message | RequestFailure | None:
        token = self.send(*what, **how)
        found, answer = await self.asking.answers.get()
        assert found == token
        return answer


@asynccontextmanager
async def driven(
    endpoint: VoterEndpoint, timeout_ms: int = TIMEOUT_MS, max_frame: int = 1 << 21, clock: Clock | None = None
) -> AsyncIterator[Driven]:
    made = Driven(endpoint, timeout_ms, max_frame, clock or SystemClock())
    made.peers.start()
    try:
        yield made
    finally:
        await made.peers.stop()
        assert made.peers.lines == {} or all(line._connection is None for line in made.peers.lines.values())


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 30))


async def well(line: Line) -> None:
    """Answers as a correct peer does."""
    await line.agree()
    while True:
        head, _ = await line.request()
        await line.answer(head, FetchResponse(error_code=error_codes.NONE, session_id=head.api_version))
