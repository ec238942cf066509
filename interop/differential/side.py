"""One of the two brokers, as a script sees it: its connections, its answers, and the names of its
values. Or one of two clusters: a client `a@2` uses the second broker, one without a number the
first.

Rules. This module never sleeps: it repeats a request until Kafka has applied a change (`settle`).
An answer that does not come is an outcome like any other, and so is a closed connection; the next
request of that client uses a new connection.
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
"""Outcomes besides answers. The last one: the version cannot express the request."""

PATIENCE = 6.0
"""Seconds to wait for an answer in scripts where some answers never come. When Kafka's controller
meets an unknown error, it resigns and does not answer for two or three seconds."""

LONG_PATIENCE = 60.0
"""Seconds to wait where all answers come."""

GLANCE = 0.06
"""Seconds after which an answer counts as not there yet."""

GUEST, GUEST_HOST = "guest", "127.0.0.2"
"""Clients with names that begin so, and the address that they connect from: ACLs can name it, while
the brokers connect to one another from 127.0.0.1."""

Outcome = dict[str, Any] | str


class Line:
    def __init__(self, name: str, address: tuple[str, int]) -> None:
        self.name = name
        source = (GUEST_HOST, 0) if name.startswith(GUEST) else None
        self.socket = socket.create_connection(address, LONG_PATIENCE, source)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._in_flight: list[tuple[int, int, int]] = []
        self._frames, self._came = Frames(), list[bytes]()
        self._count = 0

    def ask(self, api: str, version: int, body: Any, *, answered: bool = True) -> None:
        """Sends a request. If the version is above the newest one, the body is that of the
        newest."""
        found = registry.api_named(api)
        newest = found.stable_versions[1]
        self._count += 1
        frame = bytearray(b"".join(headers.write_request(body, self._count, self.name, min(version, newest))))
        frame[6:8] = version.to_bytes(2)
        if answered:
            self._in_flight.append((self._count, found.key, version if version <= newest else 0))
        self.socket.sendall(frame)

    def ask_raw(self, api: str, frame: bytes) -> None:
        """Sends a frame as it is; its correlation id is read from it."""
        version = int.from_bytes(frame[2:4], signed=True)
        self._in_flight.append((int.from_bytes(frame[4:8], signed=True), registry.api_named(api).key, version))
        self.socket.sendall(len(frame).to_bytes(4) + frame)

    def hear(self, patience: float) -> Outcome:
        """The answer to the oldest request that is not answered yet."""
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
        correlation, key, version = self._in_flight.pop(0)
        came, answer = headers.read_response(frame, key, max(version, 0))
        assert came == correlation, f"{self.name}: the answer is to request {came}, not {correlation}"
        fields: dict[str, Any] = plain(answer)
        return fields


class Side:
    """One broker or several: `bootstrap` are their addresses in the order of their ids. `patience`:
    seconds to wait for an answer."""

    def __init__(self, name: str, bootstrap: str, patience: float = PATIENCE) -> None:
        self.name, self._addresses, self._patience = name, dict[str, tuple[str, int]](), patience
        for id, address in enumerate(bootstrap.split(","), 1):
            host, _, port = address.rpartition(":")
            self._addresses[str(id)] = host, int(port)
        self.running = set(self._addresses)
        """The ids of the brokers that run."""
        self.known: dict[str, Any] = {}
        self._lines: dict[str, Line] = {}

    def begin(self, now: int) -> None:
        """Begins a new script: with new connections and no known names."""
        for line in self._lines.values():
            line.socket.close()
        self._lines.clear()
        self.known = {"now": now}

    def is_running(self, broker: int, running: bool) -> None:
        """Sets whether a broker runs from now on; its old connections are dropped."""
        (self.running.add if running else self.running.discard)(str(broker))
        for client in [line for line in self._lines if (line.partition("@")[2] or "1") == str(broker)]:
            self._lines.pop(client).socket.close()

    def line(self, client: str) -> Line:
        if client not in self._lines:
            self._lines[client] = Line(client, self._addresses[client.partition("@")[2] or "1"])
        return self._lines[client]

    def ask(self, client: str, api: str, version: int, given: Any, *, wait: bool = True) -> Outcome:
        """Sends a request in the short form; returns its outcome."""
        try:
            body = body_of(api, version, filled(given, self.known))
            silent = api == "Produce" and body.acks == 0
            self._send(client, lambda line: line.ask(api, version, body, answered=not silent))
        except UsageError:
            return NO_REQUEST
        return self._hear_nothing(client) if silent else self.hear(client) if wait else NO_ANSWER

    def ask_raw(self, client: str, api: str, frame: bytes) -> Outcome:
        self._send(client, lambda line: line.ask_raw(api, frame))
        return self.hear(client)

    def _send(self, client: str, send: Callable[[Line], None]) -> None:
        try:
            send(self.line(client))
        except ConnectionError:
            self._lines.pop(client).socket.close()
            send(self.line(client))

    def hear(self, client: str, patience: float | None = None) -> Outcome:
        """The next outcome of a connection. One that ended or stays silent is dropped, unless the
        script says `nothing yet`."""
        outcome = self.line(client).hear(self._patience if patience is None else patience)
        if isinstance(outcome, str) and (outcome == CLOSED or patience is None):
            self._lines.pop(client).socket.close()
        return outcome

    def _hear_nothing(self, client: str) -> Outcome:
        """After acks=0, which has no response: the next request shows whether the connection is
        still open."""
        after = self.ask(client, "ApiVersions", 0, {})
        return NO_ANSWER if isinstance(after, dict) else after


__all__ = ["CLOSED", "GLANCE", "LONG_PATIENCE", "NO_ANSWER", "NO_REQUEST", "Outcome", "Side"]
