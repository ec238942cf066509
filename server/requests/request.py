"""A decoded request on its way to a handler, and the two ways out of a handler that are not an answer.

A handler is `answer(node, request)`: it returns a response message, or None where the protocol has none (Produce with acks=0), or is a
generator as `waiting.py` says. It raises `Refusal` for an error that concerns the request as a whole; dispatch turns that into the API's own
shape of an error answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.message import Message

from ..apis.row import ServedApi
from ..apis.served import SERVED

Body = TypeVar("Body", bound=Message)


OWNER = 0
"""The id of who asks from within this process: the node itself, and who runs it. Connections count from 1."""


class Peer:
    """Who is at the other end of a connection. Made when it is accepted; a handler may note here what the client said of itself. `apis` is what
    is served on the listener that it came to."""

    __slots__ = (
        "apis",
        "host",
        "id",
        "listener",
        "may_ask_for_tokens",
        "port",
        "principal",
        "software_name",
        "software_version",
    )

    def __init__(
        self, id: int, host: str, port: int, listener: str = "PLAINTEXT", apis: Mapping[int, ServedApi] = SERVED
    ) -> None:
        self.id, self.host, self.port, self.listener, self.apis = id, host, port, listener, apis
        self.principal = "User:ANONYMOUS"
        self.may_ask_for_tokens = False  # nobody in PLAINTEXT may, see `token_requests.py`
        self.software_name = self.software_version = ""

    @property
    def is_at_controller(self) -> bool:
        """Whether it came to a listener of controllers, which alone serve Envelope."""
        return ApiKeys.ENVELOPE in self.apis

    def __repr__(self) -> str:
        return f"{self.host}:{self.port}"


class Request(Generic[Body]):
    """One request: its header's fields, its decoded body, and who sent it.

    `size` counts the bytes of the frame; `received` is the time (ms) at which the last of them came.
    """

    __slots__ = ("api_key", "body", "client_id", "correlation_id", "peer", "received", "size", "version")

    def __init__(
        self,
        api_key: int,
        version: int,
        correlation_id: int,
        client_id: str,
        body: Body,
        peer: Peer,
        received: int,
        size: int,
    ) -> None:
        self.api_key, self.version, self.correlation_id, self.client_id = api_key, version, correlation_id, client_id
        self.body, self.peer, self.received, self.size = body, peer, received, size

    def __repr__(self) -> str:
        return (
            f"{type(self.body).__name__} v{self.version} #{self.correlation_id} of {self.client_id!r} at {self.peer!r}"
        )


class Refusal(Exception):
    """A handler's way to say that the whole request fails: a Kafka error code, and a message where the response can carry one."""

    def __init__(self, code: int, message: str | None = None) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message
