"""One connection of a client to a listener with SASL, and the outcomes of what was sent on it."""

from __future__ import annotations

import socket
from typing import Any

from kafkadouble.messages import headers, registry
from kafkadouble.server.security.sasl.exchange import ClientExchange
from kafkadouble.wire.frame import Frames

from .values import plain, struct

PATIENCE_S = 20.0
CLOSED = "closed"

Address = tuple[str, int]


class Talk:
    """One connection, and the outcomes of what was sent on it."""

    def __init__(self, address: Address) -> None:
        self.socket = socket.create_connection(address, PATIENCE_S)
        self._frames, self._count, self.outcomes = Frames(), 0, list[Any]()
        self.last: dict[str, Any] = {}

    def ask(self, api: str, version: int, **fields: Any) -> None:
        """Sends a request, and keeps its answer."""
        found = registry.api_named(api)
        body: Any = struct(found.request, {})
        for name, value in fields.items():
            setattr(body, name, value)
        self._count += 1
        frame = bytearray(
            b"".join(headers.write_request(body, self._count, "test", min(version, found.stable_versions[1])))
        )
        frame[6:8] = version.to_bytes(2)
        came = self._exchanged(bytes(frame))
        if came is None:
            self.outcomes.append(CLOSED)
            return
        shown = version if version <= found.stable_versions[1] else 0
        self.last = plain(headers.read_response(came, found.key, shown)[1])
        self.outcomes.append({name: self.last.get(name) for name in KEPT if name in self.last})

    def raw(self, frame: bytes) -> bytes | None:
        """Sends a frame as it is, and keeps the frame that comes back."""
        came = self._exchanged(len(frame).to_bytes(4) + frame)
        self.outcomes.append(CLOSED if came is None else "frame")
        return came

    def _exchanged(self, data: bytes) -> bytes | None:
        try:
            self.socket.sendall(data)
            while True:
                got = self.socket.recv(1 << 16)
                if not got:
                    return None
                if found := self._frames.feed(got):
                    return bytes(found[0])
        except ConnectionError:
            return None

    def by(self, exchange: ClientExchange, version: int = 2) -> None:
        """Carries out the client's half of a mechanism."""
        message = next(exchange)
        while True:
            self.ask("SaslAuthenticate", version, auth_bytes=message)
            if self.outcomes[-1] == CLOSED or self.last["errorCode"] != "NONE":
                return
            try:
                message = exchange.send(self.answer_bytes())
            except StopIteration:
                return

    def answer_bytes(self) -> bytes:
        return str(self.last["authBytes"]).encode()


KEPT = ("errorCode", "errorMessage", "mechanisms", "sessionLifetimeMs")
"""The fields of answers that are compared. Nonces differ."""


def shake(talk: Talk, mechanism: str = "PLAIN", version: int = 1) -> None:
    talk.ask("SaslHandshake", version, mechanism=mechanism)


def plain_token(talk: Talk, token: bytes, version: int = 2) -> None:
    talk.ask("SaslAuthenticate", version, auth_bytes=token)
