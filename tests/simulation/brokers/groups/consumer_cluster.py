"""A simulated cluster with a consumer group, whose members may have the classic protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from kafkadouble.server.groups.consumer.consumer_group import ConsumerGroup

from ...world import World
from ..shape import Shape
from .classic_member import ClassicGroupMember
from .cluster import GroupCluster
from .member import GroupMember
from .owners import Owners

AnyMember = GroupMember | ClassicGroupMember


class ConsumerGroupCluster(GroupCluster):
    """`owners` is what all members that ever lived were given."""

    settings: ClassVar[Mapping[str, object]] = {
        "group.consumer.min.session.timeout.ms": 1000,
        "group.consumer.session.timeout.ms": 6000,
        "group.consumer.min.heartbeat.interval.ms": 100,
        "group.consumer.heartbeat.interval.ms": 400,
        "group.consumer.assignment.interval.ms": 0,
        "group.min.session.timeout.ms": 1000,
        "group.initial.rebalance.delay.ms": 0,
    }

    def __init__(self, world: World, shape: Shape) -> None:
        super().__init__(world, shape)
        self.owners = Owners()

    def _begin_members(self) -> None:
        for number in range(self.shape.group_members):
            self._begin_member(f"i{number}" if self.world.random.random() < 0.4 else None)
        for number in range(self.shape.classic_members):
            self._begin_classic_member(stays=not number)

    def _begin_member(self, instance: str | None) -> None:
        self._begin(lambda id: GroupMember(self, id, f"m{id}", instance))

    def _begin_classic_member(self, *, stays: bool = False) -> None:
        self._begin(lambda id: ClassicGroupMember(self, id, f"c{id}", stays=stays))

    def _begin_successor(self, member: AnyMember) -> None:
        """It need not use the same protocol."""
        instance = member.instance if isinstance(member, GroupMember) else None
        is_classic = self.shape.classic_members > 0 and instance is None and self.world.random.random() < 0.5
        if is_classic:
            self._begin_classic_member()
        else:
            self._begin_member(instance)

    def given(self, client: AnyMember, epoch: int, partitions: Iterable[int]) -> None:
        """The client was told that it has these partitions in this epoch."""
        others = [other for other in self.group_members if other is not client and self._is_current(other)]
        self.owners.given_now(client, epoch, [*partitions], others)

    def _is_current(self, client: AnyMember) -> bool:
        """Whether the coordinator counts it as a member in its epoch."""
        group: Any = self.group
        id, epoch = client.member_id, client.epoch
        if group is None or id not in group.members:
            return False
        if not isinstance(group, ConsumerGroup):
            return bool(group.generation_id == epoch)
        member = group.members[id]
        return epoch in (member.member_epoch, member.previous_member_epoch)

    def figures(self) -> dict[str, int]:
        return {"epochs with owners": self.owners.epochs} | super().figures()

    def _is_shared(self) -> bool:
        """Every partition has one owner."""
        used = sorted(index for member in self.group_members for index in member.using)
        return used == [*self.partitions]
