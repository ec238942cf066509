"""Clients of a consumer group for random schedules: each step is one request, whose answer may be
lost.

A client holds a partition from the answer that gives it until the coordinator has received that the
client gave it up. `holding` is what other clients must not have meanwhile.
"""

from __future__ import annotations

from random import Random
from struct import pack
from typing import Any

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.consumer_protocol_assignment import ConsumerProtocolAssignment
from kafkadouble.messages.generated.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafkadouble.server.groups.consumer.consumer_group import ConsumerGroup
from kafkadouble.server.groups.consumer_protocol import assignment_of, subscription_of
from tests.server.groups.bench import GROUP, Call, Member
from tests.server.groups.consumer.bench import JOIN, LEAVE, LEAVE_FOR_A_WHILE, Consumer, ConsumerBench

Partition = tuple[str, int]
"""A topic id in Kafka's text, and a partition."""

REJOINS = {codes.FENCED_MEMBER_EPOCH, codes.UNKNOWN_MEMBER_ID, codes.GROUP_ID_NOT_FOUND, codes.UNRELEASED_INSTANCE_ID}
RETRIES = {codes.NOT_COORDINATOR, codes.COORDINATOR_NOT_AVAILABLE}


class ConsumerClient:
    """Uses the consumer protocol. It revokes in its own time, between its heartbeats."""

    def __init__(self, bench: ConsumerBench, made: Random, name: str, **how: Any) -> None:
        self.bench, self.made = bench, made
        topics = how.pop("topics")
        self.consumer = Consumer(bench, name, *topics, **how)
        self.holding: set[Partition] = set()
        self.gone = False
        """It left, or is not heard of any more."""
        self._is_revoking = False

    @property
    def is_current(self) -> bool:
        """Returns whether the coordinator still counts it as a member in its epoch."""
        group = self.bench.shard().groups.get(GROUP)
        if self.gone or not isinstance(group, ConsumerGroup):
            return False
        member = group.members.get(self.consumer.member_id)
        return member is not None and self.consumer.epoch in (member.member_epoch, member.previous_member_epoch)

    def step(self, *, loses: float = 0.0) -> None:
        """Finishes a revocation, or sends a heartbeat."""
        if self._is_revoking and self.made.random() < 0.5:
            self._revoke()
            return
        body = self.consumer.request()
        if self._is_revoking:
            body.topic_partitions = None
        elif self.made.random() < 0.2:
            self.consumer.say_everything(body)
        if self.made.random() < loses / 2:
            return
        answer = self.bench.ask(body)
        if body.topic_partitions is not None:
            # The coordinator knows now what this client has given up.
            self.holding &= {(str(each.topic_id), index) for each in body.topic_partitions for index in each.partitions}
        if self.made.random() >= loses / 2:
            self._follow(answer)

    def _follow(self, answer: Any) -> None:
        if answer.error_code in RETRIES:
            return
        if answer.error_code:
            assert answer.error_code in REJOINS, answer
            self._forget()
            return
        consumer = self.consumer
        consumer.epoch = answer.member_epoch
        if answer.assignment is not None:
            consumer.assigned = {each.topic_id: set(each.partitions) for each in answer.assignment.topic_partitions}
            self._is_revoking = True
            # It uses what is new when it has revoked the rest, but it was given that already.
            self.holding |= self._assigned()
            if self.made.random() < 0.5:
                self._revoke()

    def _assigned(self) -> set[Partition]:
        return {(str(id), index) for id, partitions in self.consumer.assigned.items() for index in partitions}

    def _revoke(self) -> None:
        self.consumer.owned = {id: set(each) for id, each in self.consumer.assigned.items()}
        self._is_revoking = False

    def _forget(self) -> None:
        self.consumer.epoch, self.consumer.owned, self.consumer.assigned = JOIN, {}, {}
        self.holding, self._is_revoking = set(), False

    def leave(self) -> None:
        """Leaves for good, or vanish."""
        self.gone = True
        if self.consumer.epoch != JOIN and self.made.random() < 0.7:
            self.consumer.leave(LEAVE)

    def restart(self) -> None:
        """Comes back under another member id; a static member keeps its instance id."""
        consumer = self.consumer
        if consumer.epoch != JOIN and self.made.random() < 0.8:
            consumer.leave(LEAVE_FOR_A_WHILE if consumer.instance else LEAVE)
        self._forget()
        if self.made.random() < 0.7:
            consumer.member_id += "'"

    def subscribe(self, topics: list[str], regex: str | None) -> None:
        """Subscribes to something else; the next full heartbeat says so."""
        consumer = self.consumer
        consumer.topics, consumer.regex = topics, None if consumer.regex is None else regex or ""

    def __repr__(self) -> str:
        return f"{self.consumer!r}, holds {sorted(self.holding)}"


class ClassicClient:
    """Uses the classic protocol. It gives up everything before it joins; if it is cooperative, it
    only gives up what it is not assigned any more, and joins again then (KIP-429)."""

    def __init__(self, bench: ConsumerBench, made: Random, name: str, *, topics: list[str], cooperative: bool) -> None:
        self.bench, self.made, self.topics, self.cooperative = bench, made, topics, cooperative
        self.member = Member(bench, name, session=45_000, rebalance=20_000)
        self.holding: set[Partition] = set()
        self.gone = False
        self._waits: Call | None = None
        self._kind = "join"

    @property
    def is_current(self) -> bool:
        group: Any = self.bench.shard().groups.get(GROUP)
        if self.gone or group is None or self.member.id not in group.members:
            return False
        if isinstance(group, ConsumerGroup):
            return bool(group.members[self.member.id].member_epoch == self.member.generation)
        return bool(group.generation_id == self.member.generation)

    def step(self, *, loses: float = 0.0) -> None:
        """Takes in an answer, or sends the next request. An answer that is lost counts as a
        disconnection: the request is sent again."""
        if self._waits is not None:
            self._hear(loses)
        elif self._kind == "join":
            self._join()
        elif self._kind == "sync":
            self._waits = self.member.sync(self._shares)
        else:
            self._beat(loses)

    def _hear(self, loses: float) -> None:
        call = self._waits
        assert call is not None
        if not call.done:
            return
        self._waits = None
        if self.made.random() < loses / 2:
            return
        if call.code:
            self._refused(call)
        elif self._kind == "join":
            self.member.joined(call)
            self._kind, self._shares = "sync", {}
            if call.answer.leader == self.member.id:
                self._shares = assign(self.bench, call.answer.members, self.cooperative)
        else:
            self._synced(call)

    def _join(self) -> None:
        if not self.cooperative:
            self.holding = set()
        topic = ConsumerProtocolSubscription.TopicPartition
        owned = [topic(topic=name, partitions=each) for name, each in self._by_name(self.holding).items()]
        data = ConsumerProtocolSubscription(topics=self.topics, owned_partitions=owned)
        if self._was_removed():
            self.holding = set()
        self.member.protocols = [("cooperative" if self.cooperative else "range", pack(">h", 1) + data.encode(1))]
        self._waits = self.member.send_join()

    def _was_removed(self) -> bool:
        """Returns whether its session ended before it learned so. As in Kafka, a consumer group
        lets it join again with its member id; what it held may be another one's by then."""
        group: Any = self.bench.shard().groups.get(GROUP)
        return isinstance(group, ConsumerGroup) and self.member.id not in group.members

    def _by_name(self, partitions: set[Partition]) -> dict[str, list[int]]:
        names = {str(topic.id): topic.name for topic in self.bench.node.image.topics.values()}
        found: dict[str, list[int]] = {}
        for id, index in sorted(partitions):
            if id in names:
                found.setdefault(names[id], []).append(index)
        return found

    def _refused(self, call: Call) -> None:
        if call.code == codes.MEMBER_ID_REQUIRED:
            self.member.id = call.answer.member_id
            return
        self._kind = "join"
        if call.code in (codes.UNKNOWN_MEMBER_ID, codes.ILLEGAL_GENERATION):
            self.holding = set()
        if call.code == codes.UNKNOWN_MEMBER_ID:
            self.member.id = ""

    def _synced(self, call: Call) -> None:
        ids = self.bench.node.image.topic_ids
        data = call.answer.assignment
        topics = assignment_of(data).assigned_partitions if data else ()
        assigned = {(str(ids[each.topic]), index) for each in topics if each.topic in ids for index in each.partitions}
        # A cooperative member gives up the rest now; the coordinator learns it at the next join.
        revokes = bool(self.holding - assigned)
        self.holding = assigned
        self._kind = "join" if revokes else "beat"

    def _beat(self, loses: float) -> None:
        if self.made.random() < loses / 2:
            return
        code = self.member.beat()
        if code in RETRIES or code == codes.NONE:
            return
        self._kind = "join"
        if code in (codes.UNKNOWN_MEMBER_ID, codes.ILLEGAL_GENERATION):
            self.holding = set()
        if code == codes.UNKNOWN_MEMBER_ID:
            self.member.id = ""

    def leave(self) -> None:
        self.gone = True
        if self.member.id and self._waits is None and self.made.random() < 0.7:
            self.member.leave()

    def restart(self) -> None:
        """Comes back without a member id; its former self is a member until its session ends."""
        self.holding, self._kind, self._waits, self.member.id = set(), "join", None, ""

    def subscribe(self, topics: list[str], regex: str | None) -> None:
        self.topics = topics
        if self._waits is None and self._kind == "beat":
            self._kind = "join"

    def __repr__(self) -> str:
        return f"{self.member!r} in generation {self.member.generation}, {self._kind}, holds {sorted(self.holding)}"


def assign(bench: ConsumerBench, members: list[Any], cooperative: bool) -> dict[str, bytes]:
    """Returns the assignment of the leader: every partition to one subscriber. Among cooperative
    members, a partition that another one owns waits until that one gave it up."""
    subscriptions = {member.member_id: subscription_of(bytes(member.metadata)) for member in members}
    owners = {
        (topic.topic, index): member_id
        for member_id, subscription in subscriptions.items()
        for topic in subscription.owned_partitions
        for index in topic.partitions
    }
    shares: dict[str, dict[str, list[int]]] = {member_id: {} for member_id in subscriptions}
    for name in sorted(bench.node.image.topic_ids):
        interested = sorted(id for id, subscription in subscriptions.items() if name in subscription.topics)
        topic = bench.node.image.topic_named(name)
        assert topic is not None
        for index in sorted(topic.partitions) if interested else ():
            member_id = interested[index % len(interested)]
            if not cooperative or owners.get((name, index), member_id) == member_id:
                shares[member_id].setdefault(name, []).append(index)
    return {member_id: _encoded(share) for member_id, share in shares.items()}


def _encoded(share: dict[str, list[int]]) -> bytes:
    topic = ConsumerProtocolAssignment.TopicPartition
    partitions = [topic(topic=name, partitions=each) for name, each in share.items()]
    return bytes(2) + ConsumerProtocolAssignment(assigned_partitions=partitions).encode(0)
