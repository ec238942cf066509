"""Replays one recorded connection: sends its requests in their order, and reads the answers."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from dataclasses import dataclass
from typing import Any

from kafkadouble.messages import headers
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.server.tracing.trace import ABANDONED, ANSWERED, DISCONNECTED, UNANSWERED
from kafkadouble.wire.errors import WireError

from .recorded.exchange import SIZE, Exchange
from .replay_run import ReplayRun
from .retrying import asks_to_retry, lacks_records
from .target import CLIENT_ID, TargetConnection, TargetError

RETRY_S = 0.1
MOST_RECORDS_S = 3.0
"""How long a Fetch is sent again that found too few records."""

PROBE = b"".join(headers.write_request(ApiVersionsRequest(), 0, CLIENT_ID, 0))
"""What is sent behind a request that has no answer (Produce with acks=0): a broker processes the
requests of a connection in their order, so that the answer shows that it is done."""

OUTCOMES = {
    ANSWERED: "an answer",
    UNANSWERED: "no answer",
    DISCONNECTED: "that the connection was closed",
    ABANDONED: "no answer",
}


@dataclass(slots=True)
class _Sent:
    """A request that waits for its answer: when it was sent first, and whether it was sent
    again."""

    exchange: Exchange
    began: float
    is_again: bool = False


class ReplayedConnection:
    """The `exchanges` of one connection, oldest first."""

    def __init__(self, run: ReplayRun, exchanges: list[Exchange]) -> None:
        self._run, self._left = run, deque(exchanges)
        self._sent: deque[_Sent] = deque()
        self._has_sent = asyncio.Event()
        self._now = asyncio.get_running_loop().time
        self._connection: TargetConnection

    async def run(self) -> None:
        """Ends when every exchange is over."""
        first = self._left[0]
        await self._run.turn_of(first)
        try:
            self._connection = await self._run.connected(first.node)
        except TargetError as problem:
            await self._give_up(str(problem))
            return
        reading = asyncio.create_task(self._read())
        sending = asyncio.create_task(self._send_all())
        try:
            await asyncio.wait((reading, sending), return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                await reading
            reading.result()
        finally:
            for task in (reading, sending):
                task.cancel()
            await asyncio.gather(reading, sending, return_exceptions=True)
            await self._connection.close()

    async def _send_all(self) -> None:
        while self._left:
            exchange = self._left[0]
            await self._run.turn_of(exchange)
            self._left.popleft()
            await self._send(_Sent(exchange, self._now()))
            if exchange.outcome == ABANDONED:
                await self._run.over(exchange)
        self._has_sent.set()

    async def _send(self, sent: _Sent) -> None:
        """The reader finds out that a connection is closed."""
        self._sent.append(sent)
        self._has_sent.set()
        with contextlib.suppress(OSError):
            await self._connection.send(self._frame(sent.exchange))

    def _frame(self, exchange: Exchange) -> bytes:
        """The bytes to send: as recorded, unless an id is another one here."""
        body, is_changed = self._run.ids.request(exchange)
        if is_changed:
            parts = headers.write_request(body, exchange.correlation_id, exchange.client_id, exchange.version)
            frame = b"".join(parts)
        else:
            frame = len(exchange.request_frame).to_bytes(SIZE, "big") + exchange.request_frame
        return frame + PROBE if exchange.outcome == UNANSWERED else frame

    async def _read(self) -> None:
        """Reads until every request that was answered in the recording has its answer here."""
        while self._left or any(each.exchange.outcome != ABANDONED for each in self._sent):
            if not self._sent:
                self._has_sent.clear()
                await self._has_sent.wait()
                continue
            sent = self._sent[0]
            try:
                frame = await asyncio.wait_for(self._connection.receive(), self._patience(sent))
            except TimeoutError:
                await self._lost("no answer")
            except (OSError, EOFError, TargetError):
                if await self._connected_again(sent):
                    continue
                await self._lost("that the connection was closed")
            else:
                self._sent.popleft()
                await self._take(sent, frame)
                continue
            return

    async def _connected_again(self, sent: _Sent) -> bool:
        """Connects again: with acks=0 a broker closes the connection for an error that may pass by
        itself. What was sent behind it was not processed."""
        run = self._run
        if sent.exchange.outcome != UNANSWERED or self._now() - sent.began >= run.options.patience:
            return False
        await asyncio.sleep(RETRY_S)
        await self._connection.close()
        try:
            self._connection = await run.connected(sent.exchange.node)
        except TargetError:
            return False
        self._note_again(sent)
        with contextlib.suppress(OSError):
            await self._connection.send(b"".join(self._frame(each.exchange) for each in self._sent))
        return True

    def _patience(self, sent: _Sent) -> float:
        exchange = sent.exchange
        return self._run.options.patience + (exchange.ended_us - exchange.began_us) / 1_000_000

    async def _take(self, sent: _Sent, frame: bytes) -> None:
        """An answer to the oldest request that waits for one."""
        exchange = sent.exchange
        if exchange.outcome == ABANDONED:
            return
        if exchange.outcome == UNANSWERED:  # this is the answer to the probe
            await self._run.over(exchange)
            return
        if exchange.outcome == DISCONNECTED:
            await self._run.differs(exchange, OUTCOMES[DISCONNECTED], "an answer")
            return
        try:
            found = headers.read_response(frame, exchange.api_key, exchange.version, SIZE)[1]
        except WireError as problem:
            await self._run.differs(exchange, "an answer", f"bytes that cannot be read: {problem}")
            return
        recorded = exchange.answer()
        if self._is_to_retry(sent, recorded, found):
            await self._send_again(sent)
        else:
            await self._run.answered(exchange, recorded, found)

    def _is_to_retry(self, sent: _Sent, recorded: Any, found: Any) -> bool:
        waited, patience = self._now() - sent.began, self._run.options.patience
        if waited < patience and asks_to_retry(sent.exchange, recorded, found):
            return True
        return waited < min(patience, MOST_RECORDS_S) and lacks_records(sent.exchange, recorded, found)

    async def _send_again(self, sent: _Sent) -> None:
        self._note_again(sent)
        self._run.ids.fetched_again(sent.exchange)
        await asyncio.sleep(RETRY_S)
        await self._send(_Sent(sent.exchange, sent.began, True))

    def _note_again(self, sent: _Sent) -> None:
        if not sent.is_again:
            self._run.report.retried += 1
            sent.is_again = True

    async def _lost(self, found: str) -> None:
        """Records that the oldest request has no answer, and that no later one will come."""
        waiting = [each.exchange for each in self._sent if each.exchange.outcome != ABANDONED]
        self._sent.clear()
        for index, exchange in enumerate(waiting):
            if exchange.outcome == DISCONNECTED and index == 0 and found.startswith("that"):
                await self._run.over(exchange)
            else:
                await self._run.differs(exchange, OUTCOMES[exchange.outcome], found)
        await self._give_up("nothing was sent, because the connection was closed earlier")

    async def _give_up(self, why: str) -> None:
        """Gives the connection up: nothing more can be sent."""
        left, self._left = list(self._left), deque()
        for exchange in left:
            await self._run.differs(exchange, OUTCOMES[exchange.outcome], why)
