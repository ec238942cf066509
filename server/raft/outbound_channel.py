"""The sender of requests to other nodes, as the shell uses it: the raft client, the fetchers of
followers, and the queues of requests to the active controller."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from kafkadouble.messages.message import Message

from .request_manager import OutboundRequest, RequestFailure


class OutboundChannel(Protocol):
    """Times are in ms."""

    def take_outgoing(self) -> list[OutboundRequest]:
        """The requests to be sent now; each is taken once."""
        ...

    def answered(self, token: int, response: Message | RequestFailure | None, now: int) -> None:
        """The response to the request with this token, or why there is none."""
        ...

    def tick(self, now: int) -> None: ...

    def next_deadline(self) -> int | None: ...


class PeerChannel(NamedTuple):
    """A channel of a node to its peers, and how its requests are sent. The setting `timeout` is the
    longest time (ms) in which an answer is awaited.
    """

    client_id: str
    channel: OutboundChannel
    timeout: str

    @property
    def is_to_controllers(self) -> bool:
        """Whether its peers are controllers, not brokers: the settings of their timeouts are named
        so."""
        return self.timeout.startswith("controller.")
