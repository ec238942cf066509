"""When the connections of a listener begin their TLS handshakes.

Rules. A handshake costs about a millisecond, and a quarter of a MiB until it is done. `AT_ONCE` of
them begin in one round of the loop, in the order in which they came, so that a flood leaves time
for requests. At most `MOST` are under way. When others wait, the one that began
first is given up, unless it has had less than `GRACE_S`: its client does not go on.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ..requests.close_reasons import no_handshake

AT_ONCE, MOST = 8, 128
GRACE_S = 0.2
"""How long a handshake has at least. A client sends two messages in it."""

Task = asyncio.Task[None]


class HandshakeTurns:
    """The handshakes of one listener."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[asyncio.Future[None], Task]] = deque()
        self._begun: dict[Task, float] = {}  # when each that is under way began
        self._timer: asyncio.Handle | None = None
        self._given_up: set[Task] = set()  # and cancelled

    @asynccontextmanager
    async def one(self, task: Task) -> AsyncIterator[None]:
        """Waits for the turn of the handshake that `task` carries out. OSError if that has to leave
        its place to others."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((turn, task))
        self._look_soon()
        try:
            await turn
            yield
        except asyncio.CancelledError as end:
            if task not in self._given_up:
                raise
            task.uncancel()
            # The frames of its traceback have the task, which has the exception.
            end.with_traceback(None)
            raise OSError(no_handshake("the client has not gone on while others waited")) from None
        finally:
            self._begun.pop(task, None)
            self._given_up.discard(task)
            self._look_soon()

    def _look_soon(self) -> None:
        """Begins some of those that wait in the next round."""
        if isinstance(self._timer, asyncio.TimerHandle):  # which waits until one may be given up
            self._timer.cancel()
            self._timer = None
        if self._waiting and self._timer is None:
            self._timer = asyncio.get_running_loop().call_soon(self._begin)

    def _begin(self) -> None:
        """Begins some of those that wait."""
        self._timer, begun = None, 0
        loop = asyncio.get_running_loop()
        while self._waiting and begun < AT_ONCE:
            turn, task = self._waiting[0]
            if not turn.done():
                if len(self._begun) >= MOST and (left_s := self._grace_left(loop.time())) > 0:
                    self._timer = loop.call_later(left_s, self._begin)
                    return
                self._make_room()
                self._begun[task] = loop.time()
                turn.set_result(None)
                begun += 1
            self._waiting.popleft()
        self._look_soon()

    def _grace_left(self, now: float) -> float:
        return next(iter(self._begun.values())) + GRACE_S - now

    def _make_room(self) -> None:
        if len(self._begun) < MOST:
            return
        oldest = next(iter(self._begun))
        del self._begun[oldest]
        self._given_up.add(oldest)
        oldest.cancel()

    def __repr__(self) -> str:
        return f"{len(self._begun)} handshakes, and {len(self._waiting)} that wait"
