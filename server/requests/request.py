"""A decoded request, the client that sent it, and the exception of a handler that refuses it.

A handler is `answer(node, request)`. It returns a response message, or None where the protocol has
no response (Produce with acks=0), or it is a generator as `waiting.py` describes. It raises
`Refusal` for an error of the whole request; `dispatch.py` turns that into the API's own error
response.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from kafkadouble.messages.message import Message

from .listener_spec import ListenerSpec

Body = TypeVar("Body", bound=Message)


OWNER = 0
"""The connection id of requests from inside this process: from the node itself, and from the
application that runs it. Connections count from 1.
"""

IN_PROCESS_TAG = 10_000
"""A tagged field of an Envelope between two nodes of one process: the request inside is from this
process, and the authorizer allows it everything. Other nodes do not know the tag."""


def acts_for_none(id: int) -> bool:
    """What a connection may send as another node if nothing is known of it, or if it has ended."""
    return False


class Peer:
    """The client at the other end of a connection. It is made when the connection is accepted;
    handlers store here what the client says about itself. `listener` is the one of the connection,
    `apis` are the APIs that it serves.
    """

    __slots__ = (
        "apis",
        "authenticator",
        "host",
        "id",
        "is_in_process",
        "is_node",
        "listener",
        "may_act_for",
        "may_ask_for_tokens",
        "on_disconnect",
        "port",
        "principal",
        "software_name",
        "software_version",
    )

    def __init__(self, id: int, host: str, port: int, listener: ListenerSpec) -> None:
        self.id, self.host, self.port, self.listener, self.apis = id, host, port, listener, listener.apis
        self.principal = "User:ANONYMOUS"
        self.may_ask_for_tokens = False  # never on PLAINTEXT, see `token_requests.py`
        self.authenticator: Any = None
        """Its SaslServerAuthenticator; None on a listener without SASL."""
        self.software_name = self.software_version = ""
        self.is_node = False
        """Whether it is known to be a node: by a link in the process, or by an Envelope."""
        self.may_act_for: Callable[[int], bool] = acts_for_none
        """Whether it may send what a node of this id sends, see `origin.py`."""
        self.is_in_process = False
        """Whether it is a node of this process: the authorizer allows it everything."""
        self.on_disconnect: tuple[Callable[[int], None], ...] = ()
        """Called with the id when the connection has ended, for state that lives as long."""

    def listen_to_disconnect(self, listener: Callable[[int], None]) -> None:
        """Calls it with the id when the connection has ended, once."""
        if listener not in self.on_disconnect:
            self.on_disconnect += (listener,)

    @property
    def is_at_controller(self) -> bool:
        """Whether its listener is a controller's; only these serve Envelope."""
        return self.listener.is_of_controllers

    def __repr__(self) -> str:
        return f"{self.host}:{self.port}"


class Request(Generic[Body]):
    """One request: the fields of its header, its decoded body, and the client that sent it.

    `size` is the size of the frame in bytes; `received` is the time (ms) at which its last byte
    arrived. `trace` is the TracedRequest while it is under way, if requests are traced, and
    `throttle` the RequestThrottle, if there are client quotas.
    """

    __slots__ = (
        "api_key",
        "body",
        "client_id",
        "correlation_id",
        "peer",
        "received",
        "size",
        "throttle",
        "trace",
        "version",
    )

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
        self.trace: Any = None
        self.throttle: Any = None

    def __repr__(self) -> str:
        return (
            f"{type(self.body).__name__} v{self.version} #{self.correlation_id} of {self.client_id!r} at {self.peer!r}"
        )


class Refusal(Exception):
    """Raised by a handler when the whole request fails: a Kafka error code, and a message for
    responses that have a field for it.
    """

    def __init__(self, code: int, message: str | None = None) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message
