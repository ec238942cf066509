"""A node with a stepped clock, and clients with the consumer protocol that a test steps."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from kafkadouble.messages.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.groups.consumer.consumer_group import ConsumerGroup
from tests.server.groups.bench import GROUP, Bench

JOIN, LEAVE, LEAVE_FOR_A_WHILE = 0, -1, -2
REBALANCE_TIMEOUT_MS = 60_000

Partitions = dict[Uuid, set[int]]


class ConsumerBench(Bench):
    """A Bench in which an assignment is computed as soon as a heartbeat needs it."""

    def __init__(self, **settings: object) -> None:
        arguments = {"group_consumer_assignment_interval_ms": 0, "group_initial_rebalance_delay_ms": 0, **settings}
        super().__init__(offsets_partitions=1, with_offsets_topic=True, **arguments)

    def consumer_group(self, group: str = GROUP) -> ConsumerGroup:
        found = self.shard(group).groups[group]
        assert isinstance(found, ConsumerGroup)
        return found

    def described(self, group: str = GROUP) -> Any:
        (found,) = self.ask(ConsumerGroupDescribeRequest(group_ids=[group])).groups
        return found


class Consumer:
    """A client with the consumer protocol. `owned` are the partitions that it has in use."""

    def __init__(
        self,
        bench: Bench,
        member_id: str,
        *topics: str,
        group: str = GROUP,
        regex: str | None = None,
        instance: str | None = None,
        assignor: str | None = None,
        rack: str | None = None,
    ) -> None:
        self.bench, self.member_id, self.group_id, self.instance = bench, member_id, group, instance
        self.topics, self.regex, self.assignor, self.rack = list(topics), regex, assignor, rack
        self.epoch = JOIN
        self.owned: Partitions = {}
        self.assigned: Partitions = {}
        """What the coordinator assigns to it."""

    def request(self, **fields: Any) -> ConsumerGroupHeartbeatRequest:
        """Returns a heartbeat; the first one says everything."""
        body = ConsumerGroupHeartbeatRequest(
            group_id=self.group_id, member_id=self.member_id, member_epoch=self.epoch, instance_id=self.instance
        )
        if self.epoch == JOIN:
            self.say_everything(body)
        else:
            body.topic_partitions = self.topic_partitions()
        for name, value in fields.items():
            setattr(body, name, value)
        return body

    def say_everything(self, body: ConsumerGroupHeartbeatRequest) -> None:
        """Repeats what a member says when it joins, as after a lost response."""
        body.rebalance_timeout_ms, body.rack_id = REBALANCE_TIMEOUT_MS, self.rack
        body.subscribed_topic_names, body.subscribed_topic_regex = self.topics, self.regex
        body.server_assignor = self.assignor
        body.topic_partitions = [] if self.epoch == JOIN else self.topic_partitions()

    def topic_partitions(self) -> list[Any]:
        topic = ConsumerGroupHeartbeatRequest.TopicPartitions
        return [topic(topic_id=id, partitions=sorted(each)) for id, each in self.owned.items() if each]

    def beat(self, **fields: Any) -> Any:
        """Sends a heartbeat, and follows the answer. What it must revoke it gives up at once."""
        answer = self.send(**fields)
        assert answer.error_code == error_codes.NONE, answer
        self.follow(answer)
        return answer

    def repeat(self) -> None:
        """Sends a full heartbeat, and follows the answer."""
        body = self.request()
        self.say_everything(body)
        self.follow(self.bench.ask(body))

    def send(self, **fields: Any) -> Any:
        """Sends a heartbeat, and returns the answer without following it."""
        return self.bench.ask(self.request(**fields))

    def code(self, **fields: Any) -> int:
        error_code: int = self.send(**fields).error_code
        return error_code

    def follow(self, answer: Any) -> None:
        self.epoch = answer.member_epoch
        if answer.assignment is not None:
            self.assigned = {Uuid(each.topic_id): set(each.partitions) for each in answer.assignment.topic_partitions}
            self.owned = {id: set(each) for id, each in self.assigned.items()}

    def leave(self, epoch: int = LEAVE) -> Any:
        answer = self.send(member_epoch=epoch, topic_partitions=None)
        self.epoch, self.owned, self.assigned = JOIN, {}, {}
        return answer

    def partitions(self, topic_id: Uuid) -> list[int]:
        return sorted(self.owned.get(topic_id, ()))

    def __repr__(self) -> str:
        return f"{self.member_id} in epoch {self.epoch} with {self.owned}"


def settle(*consumers: Consumer, rounds: int = 20) -> None:
    """Sends the heartbeats of all members in turn until nothing changes in two rounds: what the
    first one writes may change the answers of the second."""
    quiet = 0
    for _ in range(rounds):
        before = [(consumer.epoch, consumer.owned) for consumer in consumers]
        for consumer in consumers:
            consumer.beat()
        quiet = quiet + 1 if before == [(consumer.epoch, consumer.owned) for consumer in consumers] else 0
        if quiet == 2:
            return
    raise AssertionError(f"the group does not settle: {consumers}")
