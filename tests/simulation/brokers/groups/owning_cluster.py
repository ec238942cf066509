"""A simulated cluster with a group whose members own something: partitions or tasks."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Hashable
from typing import Any

from ...world import World
from ..shape import Shape
from .cluster import GroupCluster
from .owners import Owners


class OwningGroupCluster(GroupCluster):
    """`owners` is what all members that ever lived were given."""

    def __init__(self, world: World, shape: Shape) -> None:
        super().__init__(world, shape)
        self.owners = Owners()

    def given(self, client: Any, epoch: int, things: Collection[Hashable]) -> None:
        """The client learned that it has these things in this epoch."""
        others = [other for other in self.group_members if other is not client and self._is_current(other)]
        self.owners.given_now(client, epoch, things, others)

    def _is_current(self, client: Any) -> bool:
        """Whether the coordinator counts it as a member in its epoch."""
        group = self.group
        member = None if group is None else group.members.get(client.member_id)
        return member is not None and client.epoch in (member.member_epoch, member.previous_member_epoch)

    def figures(self) -> dict[str, int]:
        return {"epochs with owners": self.owners.epochs} | super().figures()

    def _is_shared(self) -> bool:
        used = Counter(thing for member in self.group_members for thing in member.using)
        return used == Counter(self.everything())

    @abstractmethod
    def everything(self) -> Collection[Hashable]:
        """What must have one owner each when the group is Stable."""
