"""A simulated cluster with the members of one group, whose coordinator keeps it in
`__consumer_offsets`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.groups.consumer.consumer_group import ConsumerGroup
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS

from ...world import World
from ..internal import InternalCluster, InternalWatch
from ..shape import TOPIC, Shape
from . import promises
from .classic_member import ClassicGroupMember
from .member import NAME, GroupMember
from .owners import Owners

FIRST_MEMBER = 601

SETTINGS: dict[str, object] = {
    "group.consumer.min.session.timeout.ms": 1000,
    "group.consumer.session.timeout.ms": 6000,
    "group.consumer.min.heartbeat.interval.ms": 100,
    "group.consumer.heartbeat.interval.ms": 400,
    "group.consumer.assignment.interval.ms": 0,
    "group.min.session.timeout.ms": 1000,
    "group.initial.rebalance.delay.ms": 0,
}

AnyMember = GroupMember | ClassicGroupMember


class GroupCluster(InternalCluster):
    """`group_members` are those that live; `owners` is what all that ever lived were given."""

    def __init__(self, world: World, shape: Shape) -> None:
        super().__init__(world, shape)
        self.group_members: list[AnyMember] = []
        self.owners = Owners()
        self.is_ending = False
        self.replaced = 0
        self._numbers = count(FIRST_MEMBER)

    def _make_watch(self) -> InternalWatch:
        return InternalWatch(self, {CONSUMER_OFFSETS: 1})

    def settings_of(self, id: int) -> dict[str, object]:
        return super().settings_of(id) | (SETTINGS if id in self.shape.broker_ids else {})

    @property
    def topic_id(self) -> Uuid:
        """The id of the topic, as the brokers know it."""
        found = [member.node.image.topic_ids.get(TOPIC) for member in self.brokers if member.node is not None]
        self._topic_id = next((id for id in found if id is not None), getattr(self, "_topic_id", Uuid.ZERO))
        return self._topic_id

    def _begin_clients(self) -> None:
        super()._begin_clients()
        for number in range(self.shape.group_members):
            self._begin_member(f"i{number}" if self.world.random.random() < 0.4 else None)
        for number in range(self.shape.classic_members):
            self._begin_classic_member(stays=not number)

    def _begin_member(self, instance: str | None) -> None:
        id = next(self._numbers)
        self._begin(GroupMember(self, id, f"m{id}", instance))

    def _begin_classic_member(self, *, stays: bool = False) -> None:
        id = next(self._numbers)
        self._begin(ClassicGroupMember(self, id, f"c{id}", stays=stays))

    def _begin(self, member: AnyMember) -> None:
        self.group_members.append(member)
        self.world.after(self.world.random.randint(0, 2000), member.begin)

    def replace(self, member: AnyMember) -> None:
        """A member is gone; another one comes. It need not use the same protocol."""
        self.group_members.remove(member)
        self.replaced += 1
        instance = member.instance if isinstance(member, GroupMember) else None
        is_classic = self.shape.classic_members > 0 and instance is None and self.world.random.random() < 0.5
        if is_classic:
            self._begin_classic_member()
        else:
            self._begin_member(instance)

    def term(self, id: int) -> int | None:
        """The leader epoch in which this broker coordinates the group; None if it does not."""
        coordinator = self.coordinator_of(CONSUMER_OFFSETS)
        leads = coordinator is not None and coordinator.id == id
        return self.watch.internal[CONSUMER_OFFSETS].partitions[0].leader_epoch if leads else None

    def given(self, client: AnyMember, epoch: int, partitions: Iterable[int]) -> None:
        """The client was told that it has these partitions in this epoch."""
        partitions = list(partitions)
        self.owners.has(client, epoch, partitions)
        others = [other for other in self.group_members if other is not client and self._is_current(other)]
        for other in others:
            for partition in partitions:
                if partition in other.using:
                    promises.is_given_too_early(partition, client, other)

    def _is_current(self, client: AnyMember) -> bool:
        """Whether the coordinator counts it as a member in its epoch."""
        group: Any = self._group()
        id, epoch = client.member_id, client.epoch
        if group is None or id not in group.members:
            return False
        if not isinstance(group, ConsumerGroup):
            return bool(group.generation_id == epoch)
        member = group.members[id]
        return epoch in (member.member_epoch, member.previous_member_epoch)

    def figures(self) -> dict[str, int]:
        """What has happened to the group."""
        epochs = {epoch for _, epoch in self.owners.given}
        return {"epochs with owners": len(epochs), "members replaced": self.replaced}

    def state(self) -> str:
        return f"{super().state()}, {self.group_members}, {self._group()!r}"

    def _group(self) -> object:
        coordinator = self.coordinator_of(CONSUMER_OFFSETS)
        shards = [] if coordinator is None or coordinator.node is None else [*coordinator.node.groups]
        return shards[0].groups.get(NAME) if shards else None

    def recover(self) -> None:
        """Ends all faults: the group becomes Stable, and every partition has one owner."""
        self.is_ending = True
        self.end_faults()
        self.await_order()
        self.require(self._is_shared, "the group does not become Stable, with one owner for each partition")
        for member in self.group_members:
            member.die()
        super().recover()

    def _is_shared(self) -> bool:
        group: Any = self._group()
        used = sorted(index for member in self.group_members for index in member.using)
        names = {member.member_id for member in self.group_members}
        return (
            group is not None
            and group.state_name == "Stable"
            and set(group.members) == names
            and used == [*self.partitions]
        )
