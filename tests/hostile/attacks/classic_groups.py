"""Members of classic groups that all join at once."""

from __future__ import annotations

import socket
from typing import Any

from kafkadouble.messages import headers
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest
from kafkadouble.messages.generated.join_group import JoinGroupRequest
from kafkadouble.messages.generated.sync_group import SyncGroupRequest
from kafkadouble.messages.message import Message

from ..sockets import Client, framed
from .exchanges import Address, answered, connected

JOIN, SYNC, HEARTBEAT = (11, 3), (14, 1), (12, 1)
"""API key and version."""

REBALANCE_IN_PROGRESS = 27


class Member:
    """A member of a group of `size`: it joins, syncs and heartbeats, until all are in."""

    def __init__(self, group: list[int], number: int, size: int) -> None:
        # The group's number, and the last known count of its members.
        self._group, self._size = group, size
        self._name, self._client = f"classic-{size}-{group[0]}", f"member-{number}"
        self._id, self._generation, self._asked = "", -1, JOIN

    def join(self) -> bytes:
        protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=bytes(50))
        request = JoinGroupRequest(
            group_id=self._name,
            session_timeout_ms=60_000,
            rebalance_timeout_ms=60_000,
            member_id=self._id,
            protocol_type="consumer",
            protocols=[protocol],
        )
        return self._ask(request, JOIN)

    def reply(self, sock: socket.socket, frame: bytes) -> bytes:
        answer: Any = headers.read_response(frame, *self._asked)[1]
        if answer.error_code:
            assert answer.error_code == REBALANCE_IN_PROGRESS, answer
            return self.join()
        if self._asked == JOIN:
            return self._sync(answer)
        return b"" if self._group[1] == self._size else self._heartbeat()

    def _sync(self, joined: Any) -> bytes:
        self._id, self._generation = joined.member_id, joined.generation_id
        assigned = []
        if joined.members:  # it is the leader of the group
            self._group[1] = len(joined.members)
            of = SyncGroupRequest.SyncGroupRequestAssignment
            assigned = [of(member_id=member.member_id, assignment=bytes(30)) for member in joined.members]
        request = SyncGroupRequest(
            group_id=self._name, generation_id=self._generation, member_id=self._id, assignments=assigned
        )
        return self._ask(request, SYNC)

    def _heartbeat(self) -> bytes:
        request = HeartbeatRequest(group_id=self._name, generation_id=self._generation, member_id=self._id)
        return self._ask(request, HEARTBEAT)

    def _ask(self, request: Message, api: tuple[int, int]) -> bytes:
        self._asked = api
        return framed(request, api[1], self._client)


def joins(address: Address, scale: float) -> None:
    """1,000 groups of 5 members join at once."""
    _join(address, int(1000 * scale), 5)


def joins_of_one_group(address: Address, scale: float) -> None:
    """One group of 5,000 members joins at once."""
    _join(address, 1, int(5000 * scale))


def _join(address: Address, count: int, size: int) -> None:
    groups = [[number, 0] for number in range(count)]
    members = [Member(group, number, size) for group in groups for number in range(size)]
    socks = connected(address, len(members))
    of = dict(zip(socks, members, strict=True))
    answered(socks, [member.join() for member in members], lambda sock, answer: of[sock].reply(sock, answer))


def coordinator(client: Client, scale: float) -> None:
    (found,) = client.ask(FindCoordinatorRequest(coordinator_keys=["group"]), 4).coordinators
    assert found.error_code == 0
