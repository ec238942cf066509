"""A simulated cluster with a consumer group, whose members may have the classic protocol."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from kafkadouble.server.groups.consumer.consumer_group import ConsumerGroup

from .classic_member import ClassicGroupMember
from .member import GroupMember
from .owning_cluster import OwningGroupCluster

AnyMember = GroupMember | ClassicGroupMember


class ConsumerGroupCluster(OwningGroupCluster):
    """`using` of a member are the indexes of its partitions."""

    settings: ClassVar[Mapping[str, object]] = {
        "group.consumer.min.session.timeout.ms": 1000,
        "group.consumer.session.timeout.ms": 6000,
        "group.consumer.min.heartbeat.interval.ms": 100,
        "group.consumer.heartbeat.interval.ms": 400,
        "group.consumer.assignment.interval.ms": 0,
        "group.min.session.timeout.ms": 1000,
        "group.initial.rebalance.delay.ms": 0,
    }

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

    def _is_current(self, client: AnyMember) -> bool:
        group: Any = self.group
        if group is None or isinstance(group, ConsumerGroup):
            return super()._is_current(client)
        return client.member_id in group.members and bool(group.generation_id == client.epoch)

    def everything(self) -> Collection[int]:
        return self.partitions
