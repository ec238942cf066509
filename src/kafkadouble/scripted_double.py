"""ScriptedDouble: a server that answers clients from a recording.

Rules. It is a KafkaDouble under two fault rules that call functions: one gives the recorded answer
of every request, the other its wait. Nothing is processed by a broker. A request that the recording
does not answer is noted, and its connection is closed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.pipeline.traffic.schema import API_NAMES
from kafkadouble.replay.recorded.exchange import Exchange
from kafkadouble.replay.recorded.recording import Recording, load
from kafkadouble.replay.target import parsed
from kafkadouble.server.faults.actions import Call, Delay, Disconnect
from kafkadouble.server.faults.match import Match
from kafkadouble.server.faults.rule import Rule
from kafkadouble.server.faults.trigger import Trigger
from kafkadouble.server.tracing.trace import DISCONNECTED
from kafkadouble.wire.client_log import ClientLog

from .double import KafkaDouble
from .scripted.fetch_script import wait_s
from .scripted.script import Script

if TYPE_CHECKING:
    from kafkadouble.server.tracing.history import SeenRequest

    from .seen.requests import Requests

log = ClientLog("kafkadouble")

API_KEYS = {name: key for key, name in API_NAMES.items()}

MOST_UNSCRIPTED = 1000
"""The requests without an answer that are kept; the others are logged only."""


class ScriptedDouble:
    """Answers from the recording at a path, between `start` and `stop` or inside a `with` or `async
    with` block; each start begins the script again.

    - `port` of the first broker, 0 for any free one; each recorded broker has a listener.
    - `run`: which run, if the recording has several.

    Raises UsageError for what is no recording, and OSError if the port is in use.
    """

    def __init__(
        self, recording: str | os.PathLike[str], *, port: int = 0, host: str = "127.0.0.1", run: str | None = None
    ) -> None:
        self._recording: Recording = load(recording, run)
        self._nodes = self._recording.brokers()
        self._double = KafkaDouble(port=port, host=host, brokers=len(self._nodes))
        self._script = Script(self._recording, {})
        self._wait = 0.0
        self._unscripted: list[SeenRequest] = []

    def start(self) -> ScriptedDouble:
        """Binds the ports and starts to serve."""
        self._double.start()
        addresses = map(parsed, self._double.bootstrap_servers.split(","))
        self._script = Script(self._recording, dict(zip(self._nodes, addresses, strict=True)))
        self._unscripted = []
        for function in (self._answer, self._delay):
            self._double.arm(Rule(Match("*"), Call(function), Trigger(times=None)))
        return self

    def stop(self) -> None:
        """Closes every connection and frees the ports. The received requests can still be read."""
        self._double.stop()

    def __enter__(self) -> ScriptedDouble:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.stop()

    async def __aenter__(self) -> ScriptedDouble:
        return await asyncio.to_thread(self.start)

    async def __aexit__(self, *exc: object) -> None:
        await asyncio.to_thread(self.stop)

    @property
    def bootstrap_servers(self) -> str:
        """HOST:PORT of every broker, separated by commas."""
        return self._double.bootstrap_servers

    @property
    def requests(self) -> Requests:
        """The latest requests, decoded; see `Requests`."""
        return self._double.requests

    @property
    def unscripted(self) -> list[SeenRequest]:
        """The requests that the recording has no answer for, oldest first, the first thousand."""
        return list(self._unscripted)

    @property
    def unasked(self) -> Sequence[Exchange]:
        """The recorded exchanges that no client asked for, oldest first."""
        return self._script.unasked()

    def assert_complete(self) -> None:
        """Asserts that everything that was asked is in the recording, and that everything in the
        recording was asked."""
        __tracebackhide__ = True
        lines = [f"not in the recording: {each!r}" for each in self.unscripted]
        lines += [f"not asked: {each!r}" for each in self.unasked]
        if lines:
            raise AssertionError("\n".join(["the session was not as recorded", *lines]))

    def _answer(self, seen: SeenRequest) -> Any:
        """The recorded answer, or the end of the connection. Called on the brokers' thread."""
        api_key, node = API_KEYS[seen.api], self._nodes[seen.broker - 1]
        exchange, answer = self._script.answer(api_key, seen.version, seen.body, node)
        self._wait = wait_s(seen.body, answer) if answer is not None and api_key == ApiKeys.FETCH else 0.0
        if answer is None:
            if exchange is None or exchange.outcome != DISCONNECTED:
                self._note(seen, api_key)
            return Disconnect()
        return answer

    def _delay(self, seen: SeenRequest) -> Delay | None:
        return Delay(self._wait) if self._wait else None

    def _note(self, seen: SeenRequest, api_key: int) -> None:
        nearest = self._script.nearest(api_key, seen.body)
        like = f"the nearest is {nearest!r}" if nearest else f"it has no {seen.api}"
        log.warning("the recording has no answer to %s v%d of %r: %s", seen.api, seen.version, seen.client_id, like)
        if len(self._unscripted) < MOST_UNSCRIPTED:
            self._unscripted.append(seen)

    def __repr__(self) -> str:
        return f"<ScriptedDouble of {self._recording!r}>"
