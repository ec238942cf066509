"""A member of a classic group: its JoinGroup data, its assignment and its waiting requests.

The ids, the timeouts, the metadata of the selected protocol and the assignment are persisted. The
rest exists only in the memory of the coordinator.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from kafkadouble.messages.generated.join_group import JoinGroupRequest, JoinGroupResponse
from kafkadouble.messages.generated.sync_group import SyncGroupResponse

from ...coordinator.response_future import ResponseFuture
from ...requests.request import Request
from ...requests.timers import Timer


class JoinGroupParams(NamedTuple):
    """The data of a JoinGroup request.

    `protocols` maps name -> metadata, in order of preference.
    """

    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: dict[str, bytes]
    reason: str

    @classmethod
    def of(cls, request: Request[JoinGroupRequest]) -> JoinGroupParams:
        """Reads the request. Version 0 has no rebalance timeout; its session timeout is used."""
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


class ClassicGroupMember:
    """`group_instance_id` is set for a static member (KIP-345)."""

    __slots__ = (
        "assignment",
        "awaiting_join_future",
        "awaiting_sync_future",
        "client_host",
        "client_id",
        "group_instance_id",
        "is_new",
        "member_id",
        "rebalance_timeout_ms",
        "session_timeout_ms",
        "session_timer",
        "supported_protocols",
    )

    def __init__(
        self,
        member_id: str,
        group_instance_id: str | None,
        *,
        client_id: str,
        client_host: str,
        session_timeout_ms: int,
        rebalance_timeout_ms: int,
        supported_protocols: dict[str, bytes],
        assignment: bytes = b"",
    ) -> None:
        self.member_id, self.group_instance_id = member_id, group_instance_id
        self.client_id, self.client_host = client_id, client_host
        self.session_timeout_ms, self.rebalance_timeout_ms = session_timeout_ms, rebalance_timeout_ms
        self.supported_protocols, self.assignment = supported_protocols, assignment
        self.awaiting_join_future: ResponseFuture[JoinGroupResponse] | None = None
        """The response to its JoinGroup; None when no JoinGroup waits."""
        self.awaiting_sync_future: ResponseFuture[SyncGroupResponse] | None = None
        """The response to its SyncGroup; None when no SyncGroup waits."""
        self.is_new = False
        """True until its first rebalance completes; heartbeats cannot extend its first join."""
        self.session_timer: Timer | None = None

    @classmethod
    def joining(cls, member_id: str, group_instance_id: str | None, params: JoinGroupParams) -> ClassicGroupMember:
        """Creates a new member from its JoinGroup request."""
        member = cls(
            member_id,
            group_instance_id,
            client_id=params.client_id,
            client_host=params.client_host,
            session_timeout_ms=params.session_timeout_ms,
            rebalance_timeout_ms=params.rebalance_timeout_ms,
            supported_protocols=params.protocols,
        )
        member.is_new = True
        return member

    def update(self, params: JoinGroupParams) -> None:
        """Applies a later JoinGroup. The client id and host of the first one stay, as in Kafka."""
        self.session_timeout_ms = params.session_timeout_ms
        self.rebalance_timeout_ms = params.rebalance_timeout_ms
        self.supported_protocols = params.protocols

    @property
    def is_awaiting_join(self) -> bool:
        return self.awaiting_join_future is not None

    @property
    def has_satisfied_heartbeat(self) -> bool:
        """Returns whether no heartbeat is due, because a request of the member waits."""
        return not self.is_new and (self.is_awaiting_join or self.awaiting_sync_future is not None)

    def matches(self, protocols: dict[str, bytes]) -> bool:
        """Returns whether its protocols have the same order and metadata as these."""
        return list(self.supported_protocols.items()) == list(protocols.items())

    def vote(self, candidates: Collection[str]) -> str:
        """Returns the candidate that it prefers. It supports every candidate."""
        return next(name for name in self.supported_protocols if name in candidates)

    def complete_join(self, response: JoinGroupResponse) -> bool:
        """Answers its waiting JoinGroup; returns whether there is one."""
        future, self.awaiting_join_future = self.awaiting_join_future, None
        if future is None:
            return False
        future.complete(response)
        return True

    def complete_sync(self, response: SyncGroupResponse) -> bool:
        """Answers its waiting SyncGroup; returns whether there is one."""
        future, self.awaiting_sync_future = self.awaiting_sync_future, None
        if future is None:
            return False
        future.complete(response)
        return True

    def fail(self, code: int, join_member_id: str = "") -> None:
        """Answers its waiting requests with an error."""
        self.complete_join(JoinGroupResponse(error_code=code, member_id=join_member_id))
        self.complete_sync(SyncGroupResponse(error_code=code))

    def cancel_session(self) -> None:
        """Cancels its session timer."""
        if self.session_timer is not None:
            self.session_timer.cancel()
            self.session_timer = None

    def __repr__(self) -> str:
        static = f", static as {self.group_instance_id}" if self.group_instance_id is not None else ""
        return f"member {self.member_id}{static}"
