"""Members of consumer groups (KIP-848) and of streams groups (KIP-1071) over raw sockets, for
benchmarks.

Rules. A member takes what it is assigned at once, and acknowledges it with its next heartbeat.
Members share connections, on which a request waits for the response of the one before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from kafkadouble.messages import headers
from kafkadouble.messages.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafkadouble.messages.generated.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from kafkadouble.messages.message import Message

VERSION = 1
REBALANCE_TIMEOUT_MS = 300_000
LEAVE = -1

Owned = dict[Any, list[int]]
"""The partitions by topic id, or by subtopology."""


class Connection:
    """One connection; requests take turns."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer, self._lock = reader, writer, asyncio.Lock()
        self._correlation_id = 0

    @classmethod
    async def open(cls, bootstrap: str) -> Connection:
        host, _, port = bootstrap.rpartition(":")
        return cls(*await asyncio.open_connection(host, int(port)))

    async def ask(self, body: Message, version: int = VERSION) -> Any:
        async with self._lock:
            self._correlation_id += 1
            self._writer.writelines(headers.write_request(body, self._correlation_id, "bench", version))
            size = int.from_bytes(await self._reader.readexactly(4), "big")
            frame = await self._reader.readexactly(size)
        assert body.api_key is not None
        return headers.read_response(frame, body.api_key, version)[1]

    def close(self) -> None:
        self._writer.close()


class BenchMember:
    """One member of a group: joins, heartbeats, and acknowledges what it is assigned. A subclass
    has the messages of its protocol."""

    def __init__(self, connection: Connection, group_id: str, member_id: str, topics: Sequence[str]) -> None:
        self._connection, self.group_id, self.member_id, self.topics = connection, group_id, member_id, topics
        self.epoch = 0
        self._owned: Owned = {}
        self._says_owned = False

    @property
    def owned(self) -> int:
        """The number of partitions or tasks that it owns."""
        return sum(map(len, self._owned.values()))

    @property
    def is_acknowledged(self) -> bool:
        """Whether the coordinator knows what it owns."""
        return not self._says_owned

    async def join(self) -> None:
        await self._ask(self.joining())

    async def heartbeat(self) -> None:
        owned = self._owned if self._says_owned else None
        self._says_owned = False
        await self._ask(self.beating(owned))

    async def leave(self) -> None:
        self.epoch = LEAVE
        await self._ask(self.beating(None))

    async def _ask(self, body: Message) -> None:
        response = await self._connection.ask(body)
        assert not response.error_code, response
        self.epoch = response.member_epoch
        if (assigned := self.assigned(response)) is not None:
            self._owned, self._says_owned = assigned, True

    def joining(self) -> Message:
        """The first heartbeat."""
        raise NotImplementedError

    def beating(self, owned: Owned | None) -> Message:
        """A later heartbeat, which says what the member owns unless that is None."""
        raise NotImplementedError

    def assigned(self, response: Any) -> Owned | None:
        """What the response assigns; None if that is unchanged."""
        raise NotImplementedError


class ConsumerMember(BenchMember):
    """A member of a consumer group."""

    def joining(self) -> Message:
        return ConsumerGroupHeartbeatRequest(
            group_id=self.group_id,
            member_id=self.member_id,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            subscribed_topic_names=self.topics,
            topic_partitions=[],
        )

    def beating(self, owned: Owned | None) -> Message:
        of = ConsumerGroupHeartbeatRequest
        found = None if owned is None else [of.TopicPartitions(topic_id=id, partitions=n) for id, n in owned.items()]
        return of(group_id=self.group_id, member_id=self.member_id, member_epoch=self.epoch, topic_partitions=found)

    def assigned(self, response: Any) -> Owned | None:
        if response.assignment is None:
            return None
        return {each.topic_id: list(each.partitions) for each in response.assignment.topic_partitions}


class StreamsMember(BenchMember):
    """A member of a streams group, a process of its own. Each topic has a subtopology without
    state, so that no internal topics are created."""

    def joining(self) -> Message:
        of = StreamsGroupHeartbeatRequest
        subtopologies = [of.Subtopology(subtopology_id=topic, source_topics=[topic]) for topic in self.topics]
        return of(
            group_id=self.group_id,
            member_id=self.member_id,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            process_id=self.member_id,
            topology=of.Topology(epoch=1, subtopologies=subtopologies),
            **self._tasks({}),
        )

    def beating(self, owned: Owned | None) -> Message:
        return StreamsGroupHeartbeatRequest(
            group_id=self.group_id, member_id=self.member_id, member_epoch=self.epoch, **self._tasks(owned)
        )

    def _tasks(self, owned: Owned | None) -> dict[str, Any]:
        """The tasks by role: all are active ones."""
        if owned is None:
            return {}
        of = StreamsGroupHeartbeatRequest.TaskIds
        active = [of(subtopology_id=id, partitions=numbers) for id, numbers in owned.items()]
        return {"active_tasks": active, "standby_tasks": [], "warmup_tasks": []}

    def assigned(self, response: Any) -> Owned | None:
        if response.active_tasks is None:
            return None
        return {task.subtopology_id: list(task.partitions) for task in response.active_tasks}


MEMBERS: Mapping[str, type[BenchMember]] = {"consumer": ConsumerMember, "streams": StreamsMember}
"""By the type of the group."""
