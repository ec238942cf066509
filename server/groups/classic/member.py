"""One member of a classic group: what it said in JoinGroup, what the leader assigned to it, and what it waits for.

Only the identity, the timeouts, the metadata of the chosen protocol and the assignment are persisted; the rest is this node's memory.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from kafkadouble.messages.generated.join_group import JoinGroupRequest, JoinGroupResponse
from kafkadouble.messages.generated.sync_group import SyncGroupResponse

from ...coordinator.promise import Promise
from ...requests.request import Request
from ...requests.timers import Timer


class Joining(NamedTuple):
    """What a JoinGroup request says of its member. `protocols` are name -> metadata, in order of preference."""

    client_id: str
    client_host: str
    session_timeout: int
    rebalance_timeout: int
    protocol_type: str
    protocols: dict[str, bytes]
    reason: str

    @classmethod
    def of(cls, request: Request[JoinGroupRequest]) -> Joining:
        """Version 0 has no rebalance timeout: its session timeout serves as both."""
        body = request.body
        protocols: dict[str, bytes] = {}
        for protocol in body.protocols:
            protocols.setdefault(protocol.name, bytes(protocol.metadata))
        return cls(
            request.client_id,
            "/" + request.peer.host,
            body.session_timeout_ms,
            body.session_timeout_ms if request.version == 0 else body.rebalance_timeout_ms,
            body.protocol_type,
            protocols,
            body.reason or "not provided",
        )


class Member:
    """A member. `instance_id` is the group.instance.id of a static one (KIP-345). Times are in ms."""

    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "id",
        "instance_id",
        "is_new",
        "joining",
        "protocols",
        "rebalance_timeout",
        "session",
        "session_timeout",
        "syncing",
    )

    def __init__(
        self,
        member_id: str,
        instance_id: str | None,
        *,
        client_id: str,
        client_host: str,
        session_timeout: int,
        rebalance_timeout: int,
        protocols: dict[str, bytes],
        assignment: bytes = b"",
    ) -> None:
        self.id, self.instance_id = member_id, instance_id
        self.client_id, self.client_host = client_id, client_host
        self.session_timeout, self.rebalance_timeout = session_timeout, rebalance_timeout
        self.protocols, self.assignment = protocols, assignment
        self.joining: Promise[JoinGroupResponse] | None = None
        """Its answer to JoinGroup, while the group gathers; None when it does not wait for one."""
        self.syncing: Promise[SyncGroupResponse] | None = None
        """Its answer to SyncGroup, while the leader's assignment is out; None when it does not wait for one."""
        self.is_new = False
        """Whether it has not been in a finished rebalance yet: its first JoinGroup cannot be kept alive by heartbeats, and times out."""
        self.session: Timer | None = None

    @classmethod
    def joined(cls, member_id: str, instance_id: str | None, joining: Joining) -> Member:
        """A new member, as its JoinGroup describes it."""
        member = cls(
            member_id,
            instance_id,
            client_id=joining.client_id,
            client_host=joining.client_host,
            session_timeout=joining.session_timeout,
            rebalance_timeout=joining.rebalance_timeout,
            protocols=joining.protocols,
        )
        member.is_new = True
        return member

    def update(self, joining: Joining) -> None:
        """Take over what a later JoinGroup says; the client's name and address stay those of the first, as in Kafka."""
        self.session_timeout, self.rebalance_timeout = joining.session_timeout, joining.rebalance_timeout
        self.protocols = joining.protocols

    @property
    def is_excused(self) -> bool:
        """Whether it need not send heartbeats: it is waiting for us."""
        return not self.is_new and (self.joining is not None or self.syncing is not None)

    def offers(self, protocols: dict[str, bytes]) -> bool:
        """Whether these are its protocols, in the same order and with the same metadata."""
        return list(self.protocols.items()) == list(protocols.items())

    def vote(self, candidates: Collection[str]) -> str:
        """The one of the candidates that it likes best; it supports all of them."""
        return next(name for name in self.protocols if name in candidates)

    def answer_join(self, answer: JoinGroupResponse) -> bool:
        """End its wait for JoinGroup, if it waits."""
        promise, self.joining = self.joining, None
        if promise is None:
            return False
        promise.keep(answer)
        return True

    def answer_sync(self, answer: SyncGroupResponse) -> bool:
        """End its wait for SyncGroup, if it waits."""
        promise, self.syncing = self.syncing, None
        if promise is None:
            return False
        promise.keep(answer)
        return True

    def end_session(self) -> None:
        """Stop watching it."""
        if self.session is not None:
            self.session.cancel()
            self.session = None

    def __repr__(self) -> str:
        static = f", static as {self.instance_id}" if self.instance_id is not None else ""
        return f"member {self.id}{static}"
