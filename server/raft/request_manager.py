"""The requests in flight to other nodes: one per node, with a timeout, and a backoff after a
failure (Kafka's RequestManager).

This file never sends: the replica lists outgoing requests, and the shell returns each response with
its token. Responses to requests that timed out are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, NamedTuple

from kafkadouble.messages.message import Message

from .voters import VoterEndpoint

MAX_CONNECTIONS = 100
"""Beyond this number idle connections are forgotten."""


class RaftPeer(NamedTuple):
    """Another node and its endpoint. The id is negative for an address from
    `controller.quorum.bootstrap.servers`.
    """

    id: int
    endpoint: VoterEndpoint

    def __repr__(self) -> str:
        return f"{'node ' + str(self.id) if self.id >= 0 else 'a bootstrap server'} at {self.endpoint.host}:{self.endpoint.port}"


class RequestFailure(Enum):
    """Why there is no response."""

    LOST = "the connection could not be made, or broke, or the answer took too long"
    UNSUPPORTED_VERSION = "the peer has no version of the API from `lowest` to `version`"
    NOT_AUTHENTICATED = "the peer refused us, or we it"


class OutboundRequest(NamedTuple):
    """A request to send in the newest version up to `version` that the peer supports, not below
    `lowest`. `cause` is the TracedRequest of the client that it forwards, if it forwards one.
    """

    token: int
    to: RaftPeer
    body: Message
    version: int
    lowest: int = 0
    cause: Any = None


class _ConnectionState:
    __slots__ = ("expires", "paused_until", "send")

    def __init__(self) -> None:
        self.send: OutboundRequest | None = None
        self.expires = 0  # when the request times out
        self.paused_until = 0  # no request before that time


class RequestManager:
    """The connections by peer. Times are in ms."""

    __slots__ = ("_by_token", "_links", "_next", "backoff", "timeout")

    def __init__(self, timeout: int, backoff: int) -> None:
        self.timeout, self.backoff = timeout, backoff
        self._links: dict[RaftPeer, _ConnectionState] = {}
        self._by_token: dict[int, RaftPeer] = {}
        self._next = 1

    def is_ready(self, peer: RaftPeer, now: int) -> bool:
        """Whether a request may be sent to the peer."""
        return self.ready_at(peer, now) <= now

    def ready_at(self, peer: RaftPeer, now: int) -> int:
        """When a request may be sent, as far as is known."""
        link = self._links.get(peer)
        if link is None:
            return now
        return max(link.paused_until, link.expires if link.send is not None else 0)

    def is_paused(self, peer: RaftPeer, now: int) -> bool:
        """Whether the last request to the peer failed or timed out recently."""
        link = self._links.get(peer)
        if link is None:
            return False
        unanswered = link.send is not None and link.expires <= now < link.expires + self.backoff
        return unanswered or link.paused_until > now

    def begin(self, peer: RaftPeer, body: Message, version: int, lowest: int, now: int) -> OutboundRequest:
        """Starts a request to a peer that is ready."""
        link = self._links.setdefault(peer, _ConnectionState())
        if link.send is not None:
            self._by_token.pop(link.send.token, None)
            link.send = None
        send = OutboundRequest(self._next, peer, body, version, lowest)
        self._next += 1
        link.send, link.expires = send, now + self.timeout
        self._by_token[send.token] = peer
        if len(self._links) > MAX_CONNECTIONS:
            self._forget_idle(now)
        return send

    def end(self, token: int, now: int, *, failed: bool) -> OutboundRequest | None:
        """Ends the request of this token; None if it timed out before. After a failure the
        connection backs off.
        """
        peer = self._by_token.pop(token, None)
        link = None if peer is None else self._links[peer]
        if link is None or link.send is None:
            return None
        send, link.send = link.send, None
        if failed:
            link.paused_until = now + self.backoff
        return send

    def pause(self, peer: RaftPeer, now: int) -> None:
        """The response was an error: the connection backs off."""
        self._links.setdefault(peer, _ConnectionState()).paused_until = now + self.backoff

    def reset(self) -> None:
        """Forgets all requests in flight: the replica's state has changed."""
        self._links.clear()
        self._by_token.clear()

    def busy_until(self, peers: Iterable[RaftPeer], now: int) -> int | None:
        """The next timeout of a request in flight to one of these peers; None without one."""
        links = [link for peer in peers if (link := self._links.get(peer)) is not None]
        return min((link.expires for link in links if link.send is not None and link.expires > now), default=None)

    def _forget_idle(self, now: int) -> None:
        """Any node may name addresses of new voters: such connections are not kept for ever."""
        self._links = {
            peer: link for peer, link in self._links.items() if link.send is not None or link.paused_until > now
        }

    def __repr__(self) -> str:
        return f"{len(self._by_token)} requests under way"
