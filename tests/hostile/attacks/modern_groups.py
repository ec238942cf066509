"""Members of consumer, share and streams groups that all join at once, and heartbeat."""

from __future__ import annotations

from collections.abc import Callable
from random import randbytes
from typing import Any, NamedTuple

from kafkadouble.messages import headers
from kafkadouble.messages.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafkadouble.messages.generated.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafkadouble.messages.generated.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..sockets import Client, framed
from .classic_groups import coordinator
from .exchanges import Address, answered, connected
from .topics import EVIL, create_again

MEMBERS, SMALL, PARTITIONS = 5000, 5, 100
HEARTBEATS = 3
OK = 0


class Protocol(NamedTuple):
    """How a member of one kind of group joins, and what it sends afterwards."""

    version: int
    join: Callable[[str, str], Message]
    heartbeat: Callable[[str, str, int], Message]


def _consumer(group: str, member: str) -> Message:
    return ConsumerGroupHeartbeatRequest(
        group_id=group,
        member_id=member,
        member_epoch=0,
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=[EVIL],
        topic_partitions=[],
    )


def _share(group: str, member: str) -> Message:
    return ShareGroupHeartbeatRequest(group_id=group, member_id=member, member_epoch=0, subscribed_topic_names=[EVIL])


def _streams(group: str, member: str) -> Message:
    of = StreamsGroupHeartbeatRequest
    return of(
        group_id=group,
        member_id=member,
        member_epoch=0,
        rebalance_timeout_ms=60_000,
        process_id=member,
        topology=of.Topology(epoch=0, subtopologies=[of.Subtopology(subtopology_id="0", source_topics=[EVIL])]),
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
    )


PROTOCOLS = {
    "consumer": Protocol(1, _consumer, lambda *of: ConsumerGroupHeartbeatRequest(**_named(of), topic_partitions=None)),
    "share": Protocol(1, _share, lambda *of: ShareGroupHeartbeatRequest(**_named(of))),
    "streams": Protocol(0, _streams, lambda *of: StreamsGroupHeartbeatRequest(**_named(of))),
}


def _named(of: tuple[str, str, int]) -> dict[str, Any]:
    return dict(zip(("group_id", "member_id", "member_epoch"), of, strict=True))


class Member:
    """It joins, and heartbeats a few times. A group that is full refuses it, which ends it."""

    def __init__(self, protocol: Protocol, group: str) -> None:
        self._protocol, self._group = protocol, group
        self._id, self._left = str(Uuid(randbytes(16))), HEARTBEATS
        self._body = protocol.join(self._group, self._id)

    def join(self) -> bytes:
        return framed(self._body, self._protocol.version, self._id)

    def reply(self, frame: bytes) -> bytes:
        assert self._body.api_key is not None
        answer: Any = headers.read_response(frame, self._body.api_key, self._protocol.version)[1]
        if answer.error_code != OK or not self._left:
            return b""
        self._left -= 1
        self._body = self._protocol.heartbeat(self._group, self._id, answer.member_epoch)
        return framed(self._body, self._protocol.version, self._id)


def topic_of_groups(client: Client, scale: float) -> None:
    coordinator(client, scale)
    create_again(client, EVIL, PARTITIONS)


def joins(kind: str, *, in_one_group: bool) -> Callable[[Address, float], None]:
    """5,000 members join at once: one group, or groups of five."""

    def attack(address: Address, scale: float) -> None:
        count = int(MEMBERS * scale)
        size = count if in_one_group else SMALL
        members = [Member(PROTOCOLS[kind], f"{kind}-{size}-{number // size}") for number in range(count)]
        socks = connected(address, count)
        of = dict(zip(socks, members, strict=True))
        answered(socks, [member.join() for member in members], lambda sock, answer: of[sock].reply(answer))

    return attack
