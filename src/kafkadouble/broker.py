"""One node behind its listener: what a program and a process both run, the one in a background thread, the other in its own.

Rules. Everything here runs on the loop's thread. `ask` takes the same way through the handlers as a client's request, but past the faults and
the history, which are about clients.
"""

from __future__ import annotations

import os
import socket
from concurrent.futures import Future
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from kafkadouble.messages.message import Message
from kafkadouble.server import dispatch
from kafkadouble.server.clock import Clock
from kafkadouble.server.handlers import SERVED
from kafkadouble.server.history import History
from kafkadouble.server.listener import Listener
from kafkadouble.server.node import Node
from kafkadouble.server.request import Peer, Request
from kafkadouble.server.settings import Settings

from .errors import UsageError
from .listening import address_of

if TYPE_CHECKING:
    from .data_dirs import DataDirs

CLIENT_ID = "kafkadouble"


class Broker:
    """A node, the clock that it goes by, and the socket on which it is reached.

    `seed` repeats every choice that is made at random; without one each start and each reset makes its own. `history` keeps the latest
    requests, for a program that will look at them. `data` are the directories that it keeps its logs in; in memory unless given.
    """

    def __init__(
        self,
        settings: Settings,
        sock: socket.socket,
        clock: Clock,
        *,
        advertised: tuple[str, int] | None = None,
        seed: int | None = None,
        history: bool = True,
        data: DataDirs | None = None,
    ) -> None:
        self._settings, self.clock, self._seed, self._history = settings, clock, seed, history
        self._data = data
        self.address = advertised or address_of(sock)
        self._peer = Peer(0, *self.address)
        self.listener = Listener(self._new_node(), clock, sock)

    def _new_node(self) -> Node:
        seed = int.from_bytes(os.urandom(8), "big") if self._seed is None else self._seed
        now = self.clock.now()
        logs = None if self._data is None else self._data.open()
        return Node(self._settings, advertised=self.address, now=now, seed=seed, history=self._history, logs=logs)

    @property
    def node(self) -> Node:
        """The node that serves now."""
        return self.listener.node

    @property
    def history(self) -> History:
        """The latest requests. UsageError when they are not kept."""
        if self.node.history is None:
            raise UsageError("this broker keeps no history")
        return self.node.history

    async def start(self) -> None:
        """Begin to accept."""
        await self.listener.start()

    async def stop(self) -> None:
        """Close everything."""
        await self.listener.stop()
        self.node.close(self.clock.now())
        if self._data is not None:
            self._data.release()

    def reset(self) -> None:
        """A new node behind the same socket; what the old one kept is gone."""
        if self._data is not None:
            self.node.close(self.clock.now())
            self._data.erase(self.clock.now())
        self.listener.replace(self._new_node())

    def ask(self, body: Message) -> Future[Any]:
        """What the node answers to a request in the newest version that is served."""
        node, now = self.node, self.clock.now()
        answer: Future[Any] = Future()
        node.now = now
        result = dispatch.handled(node, self._request(body, now))
        if isinstance(result, GeneratorType):
            node.waiting.start(result, answer.set_result, answer.set_exception)
        else:
            answer.set_result(result)
        node.tick(now)
        self.listener.reschedule()
        return answer

    def _request(self, body: Message, now: int) -> Request[Any]:
        served = None if body.api_key is None else SERVED.get(body.api_key)
        if served is None:
            raise UsageError(f"{type(body).__name__} is not served yet")
        return Request(served.api.key, served.highest, 0, CLIENT_ID, body, self._peer, received=now, size=0)

    def __repr__(self) -> str:
        return repr(self.listener)
