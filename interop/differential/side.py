"""One of the two brokers, as a script sees it: its connections, what it answered, and what it called things.

Rules. Nothing sleeps: what Kafka does by and by is asked for until it is done (`settle`). An answer that does not come is an outcome like
any other, and so is a connection that ends; the next request of that client has a new one.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from kafkadouble.messages import headers, registry
from kafkadouble.wire.errors import UsageError
from kafkadouble.wire.frame import Frames
from tests.support.matching import filled
from tests.support.values import plain

from .request import body_of

NO_ANSWER, CLOSED, NO_REQUEST = "no answer", "disconnected", "no request"
"""Outcomes beside answers; the last is a request that the version has no words for."""

PATIENCE = 6.0
"""Seconds that an answer may take. A controller of Kafka's that meets an error it does not know steps down for two or three."""

GLANCE = 0.06
"""Seconds after which an answer is taken not to be coming yet."""

Outcome = dict[str, Any] | str


class Line:
    """One connection."""

    def __init__(self, name: str, address: tuple[str, int]) -> None:
        self.name = name
        self.socket = socket.create_connection(address, 10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._asked: list[tuple[int, int, int]] = []
        self._frames, self._came = Frames(), list[bytes]()
        self._count = 0

    def ask(self, api: str, version: int, body: Any, *, answered: bool = True) -> None:
        """Send a request. Above the newest version there is, the body is the newest one's."""
        found = registry.api_named(api)
        newest = found.stable_versions[1]
        self._count += 1
        frame = bytearray(b"".join(headers.write_request(body, self._count, self.name, min(version, newest))))
        frame[6:8] = version.to_bytes(2)
        if answered:
            self._asked.append((self._count, found.key, version if version <= newest else 0))
        self.socket.sendall(frame)

    def ask_raw(self, api: str, frame: bytes) -> None:
        """Send a frame as it is; its correlation id is read from it."""
        version = int.from_bytes(frame[2:4], signed=True)
        self._asked.append((int.from_bytes(frame[4:8], signed=True), registry.api_named(api).key, version))
        self.socket.sendall(len(frame).to_bytes(4) + frame)

    def hear(self, patience: float) -> Outcome:
        """The answer to the oldest request that has none."""
        self.socket.settimeout(patience)
        while not self._came:
            try:
                data = self.socket.recv(1 << 20)
            except TimeoutError:
                return NO_ANSWER
            except ConnectionError:
                return CLOSED
            if not data:
                return CLOSED
            self._came += [bytes(frame) for frame in self._frames.feed(data)]
        frame = self._came.pop(0)
        correlation, key, version = self._asked.pop(0)
        came, answer = headers.read_response(frame, key, max(version, 0))
        assert came == correlation, f"{self.name}: the answer is to request {came}, not {correlation}"
        told: dict[str, Any] = plain(answer)
        return told


class Side:
    """A broker being asked."""

    def __init__(self, name: str, bootstrap: str) -> None:
        host, _, port = bootstrap.rpartition(":")
        self.name, self.address = name, (host, int(port))
        self.known: dict[str, Any] = {}
        self._lines: dict[str, Line] = {}

    def begin(self, now: int) -> None:
        """A new script: other connections, nothing known."""
        for line in self._lines.values():
            line.socket.close()
        self._lines.clear()
        self.known = {"now": now}

    def line(self, client: str) -> Line:
        if client not in self._lines:
            self._lines[client] = Line(client, self.address)
        return self._lines[client]

    def ask(self, client: str, api: str, version: int, given: Any, *, wait: bool = True) -> Outcome:
        """A request in the short form, and its outcome."""
        try:
            body = body_of(api, version, filled(given, self.known))
            silent = api == "Produce" and body.acks == 0
            self._send(client, lambda line: line.ask(api, version, body, answered=not silent))
        except UsageError:
            return NO_REQUEST
        return self._hear_nothing(client) if silent else self.hear(client) if wait else NO_ANSWER

    def ask_raw(self, client: str, api: str, frame: bytes) -> Outcome:
        """A frame, and its outcome."""
        self._send(client, lambda line: line.ask_raw(api, frame))
        return self.hear(client)

    def _send(self, client: str, send: Callable[[Line], None]) -> None:
        try:
            send(self.line(client))
        except ConnectionError:
            self._lines.pop(client).socket.close()
            send(self.line(client))

    def hear(self, client: str, patience: float = PATIENCE) -> Outcome:
        """What comes next on a connection; one that ended or keeps silent is given up."""
        outcome = self.line(client).hear(patience)
        if isinstance(outcome, str) and (outcome == CLOSED or patience > GLANCE):
            self._lines.pop(client).socket.close()
        return outcome

    def _hear_nothing(self, client: str) -> Outcome:
        """After acks=0: whether the connection goes on, which the next request tells."""
        after = self.ask(client, "ApiVersions", 0, {})
        return NO_ANSWER if isinstance(after, dict) else after


__all__ = ["CLOSED", "GLANCE", "NO_ANSWER", "NO_REQUEST", "Outcome", "Side"]
