"""A node with a stepped clock. Every request and every response is encoded and decoded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafkadouble.messages.generated.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest
from kafkadouble.messages.generated.join_group import JoinGroupRequest
from kafkadouble.messages.generated.leave_group import LeaveGroupRequest
from kafkadouble.messages.generated.partition_record import PartitionRecord
from kafkadouble.messages.generated.remove_topic_record import RemoveTopicRecord
from kafkadouble.messages.generated.sync_group import SyncGroupRequest
from kafkadouble.messages.generated.topic_record import TopicRecord
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.apis.served import SERVED
from kafkadouble.server.groups.classic.group import ClassicGroup
from kafkadouble.server.groups.group_coordinator_shard import GroupCoordinatorShard
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS
from tests.server.harness import Harness, Pending

START = 1_700_000_000_000
GROUP = "g"
DELAY = 3000


class Call:
    """A request on its way: `answer` is None until it is answered."""

    def __init__(self, pending: Pending) -> None:
        self._pending = pending
        self.closed = False

    @property
    def done(self) -> bool:
        return self._pending.done

    @property
    def answer(self) -> Any:
        return self._pending.response if self.done else None

    @property
    def code(self) -> int:
        code: int = self.answer.error_code
        return code

    def close(self) -> None:
        """The connection ends."""
        self.closed = True
        self._pending.close()


class Bench(Harness):
    """One node, its topics, and the time."""

    def __init__(self, *, offsets_partitions: int = 1, with_offsets_topic: bool = True, **settings: object) -> None:
        """Settings have `_` for `.`. The initial rebalance delay is Kafka's default."""
        config: dict[str, object] = {"group.initial.rebalance.delay.ms": DELAY}
        config |= {name.replace("_", "."): value for name, value in settings.items()}
        super().__init__(config, now=START, advertised=("broker", 9092))
        if with_offsets_topic:
            self.create_topic(CONSUMER_OFFSETS, offsets_partitions)

    def create_topic(self, name: str, partitions: int = 1, leader: int = 1) -> Uuid:
        topic_id = Uuid.random(self.node.random.randbytes)
        records: list[Message] = [TopicRecord(name=name, topic_id=topic_id)]
        for index in range(partitions):
            record = PartitionRecord(partition_id=index, topic_id=topic_id, replicas=[1], isr=[1], leader=leader)
            record.leader_epoch, record.partition_epoch = 0, 0
            record.directories = [Uuid.ZERO]
            records.append(record)
        self.node.controller.commit(records)
        return topic_id

    def delete_topic(self, topic_id: Uuid) -> None:
        self.node.controller.commit([RemoveTopicRecord(topic_id=topic_id)])

    def send(self, body: Message, version: int | None = None, *, client: str = "c") -> Call:
        """Sends a request, in the newest version unless one is given; the answer may come later."""
        assert body.api_key is not None
        newest = SERVED[body.api_key].highest
        return Call(self.begin(body, newest if version is None else version, client))

    def ask(self, body: Message, version: int | None = None) -> Any:
        """Asks for what is answered at once."""
        call = self.send(body, version)
        assert call.done, f"{body!r} is not answered at once"
        return call.answer

    def advance(self, milliseconds: int) -> None:
        """Advances the clock, with a tick whenever the node wants one."""
        end = self.now + milliseconds
        while (deadline := self.node.next_deadline()) is not None and deadline <= end:
            self.now = max(self.now, deadline)
            self.node.tick(self.now)
        self.now = end
        self.node.tick(end)

    def shard(self, group: str = GROUP) -> GroupCoordinatorShard:
        return self.node.groups.shard(group)

    def group(self, group: str = GROUP) -> ClassicGroup:
        found = self.shard(group).groups[group]
        assert isinstance(found, ClassicGroup)
        return found

    def fail_over(self) -> None:
        """Resigns from every partition of the offsets topic, and be elected again."""
        for partition in list(self.node.partitions.of_topic(CONSUMER_OFFSETS).values()):
            self.node.groups.runtime.on_resignation(partition)
            self.node.groups.runtime.on_election(partition)
        self.node.tick(self.now)


def subscription(*topics: str) -> bytes:
    """A consumer's metadata."""
    return b"\0\0" + ConsumerProtocolSubscription(topics=topics).encode(0)


class Member:
    """A client of one classic group, which keeps the answers that it gets."""

    def __init__(
        self,
        bench: Bench,
        client: str = "c",
        *,
        group: str = GROUP,
        instance: str | None = None,
        protocols: Sequence[tuple[str, bytes]] = (("range", b"\0\0\0\0\0\0\xff\xff\xff\xff"),),
        protocol_type: str = "consumer",
        session: int = 10_000,
        rebalance: int = 60_000,
    ) -> None:
        self.bench, self.client, self.group_id, self.instance = bench, client, group, instance
        self.protocols, self.protocol_type = list(protocols), protocol_type
        self.session, self.rebalance = session, rebalance
        self.id, self.generation, self.leader, self.protocol = "", -1, "", ""

    def join(self, version: int | None = None) -> Call:
        """Sends JoinGroup, once more if an id is required."""
        call = self.send_join(version)
        if call.done and call.code == 79:
            self.id = call.answer.member_id
            call = self.send_join(version)
        return call

    def send_join(self, version: int | None = None) -> Call:
        protocol = JoinGroupRequest.JoinGroupRequestProtocol
        body = JoinGroupRequest(
            group_id=self.group_id,
            session_timeout_ms=self.session,
            rebalance_timeout_ms=self.rebalance,
            member_id=self.id,
            group_instance_id=self.instance,
            protocol_type=self.protocol_type,
            protocols=[protocol(name=name, metadata=metadata) for name, metadata in self.protocols],
        )
        return self.bench.send(body, version, client=self.client)

    def joined(self, call: Call) -> None:
        """Takes in the answer to a join."""
        assert call.done
        assert call.code == 0, call.answer
        answer = call.answer
        self.id, self.generation, self.leader, self.protocol = (
            answer.member_id,
            answer.generation_id,
            answer.leader,
            answer.protocol_name,
        )

    def sync(self, assignments: dict[str, bytes] | None = None, version: int | None = None, **text: Any) -> Call:
        assignment = SyncGroupRequest.SyncGroupRequestAssignment
        body = SyncGroupRequest(
            group_id=self.group_id,
            generation_id=self.generation,
            member_id=self.id,
            group_instance_id=self.instance,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol,
            assignments=[assignment(member_id=m, assignment=a) for m, a in (assignments or {}).items()],
        )
        for name, value in text.items():
            setattr(body, name, value)
        return self.bench.send(body, version, client=self.client)

    def beat(self, generation: int | None = None) -> int:
        body = HeartbeatRequest(
            group_id=self.group_id,
            generation_id=self.generation if generation is None else generation,
            member_id=self.id,
            group_instance_id=self.instance,
        )
        code: int = self.bench.ask(body).error_code
        return code

    def leave(self) -> Any:
        identity = LeaveGroupRequest.MemberIdentity(member_id=self.id, group_instance_id=self.instance)
        return self.bench.ask(LeaveGroupRequest(group_id=self.group_id, members=[identity]))

    def __repr__(self) -> str:
        return f"{self.client} {self.id}"


def gather(*members: Member) -> None:
    """Joins every member, and checks that all get the same generation."""
    calls = [member.join() for member in members]
    for _ in range(30):
        if not all(call.done for call in calls):
            members[0].bench.advance(DELAY)
    for member, call in zip(members, calls, strict=True):
        member.joined(call)
    assert len({member.generation for member in members}) == 1


def gathered(bench: Bench) -> tuple[Member, Member]:
    """A leader and a follower that have no assignments yet."""
    leader, follower = Member(bench, "a"), Member(bench, "b")
    gather(leader, follower)
    return leader, follower


def stabilise(*members: Member) -> None:
    """The same, and let the leader assign to each member its own client name."""
    gather(*members)
    leader = next(member for member in members if member.id == member.leader)
    followers = [member for member in members if member is not leader]
    waiting = [follower.sync() for follower in followers]
    shares = {member.id: member.client.encode() for member in members}
    call = leader.sync(shares)
    for each in (*waiting, call):
        assert each.done
        assert each.code == 0


__all__ = ["DELAY", "GROUP", "START", "Bench", "Call", "Member", "gather", "stabilise", "subscription"]
