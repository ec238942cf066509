"""A simulated cluster with the members of one group, whose coordinator keeps it in
`__consumer_offsets`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS

from ...world import World
from ..internal import InternalCluster, InternalWatch
from ..nodes import IN_ORDER_WITHIN
from ..shape import Shape
from ..watch import Watch
from .growth import Growth
from .modern_member import NAME

if TYPE_CHECKING:
    from .classic_member import ClassicGroupMember
    from .modern_member import ModernMember


FIRST_MEMBER = 601


class GroupCluster(InternalCluster):
    """`group_members` are those that live. `settings` are those of its brokers. `stable_within` is
    the time (ms) in which the group becomes Stable when the faults are over."""

    settings: ClassVar[Mapping[str, object]]
    stable_within: ClassVar[int] = IN_ORDER_WITHIN
    internal_topics: ClassVar[Mapping[str, int]] = {CONSUMER_OFFSETS: 1}

    def __init__(self, world: World, shape: Shape) -> None:
        super().__init__(world, shape)
        self.group_members: list[Any] = []
        self.is_ending = False
        self.replaced = 0
        self._numbers = count(FIRST_MEMBER)
        self._topic_ids: dict[str, Uuid] = {}
        self._growing: list[Growth] = []

    def _make_watch(self) -> InternalWatch:
        return InternalWatch(self, self.internal_topics)

    def settings_of(self, id: int) -> dict[str, object]:
        return super().settings_of(id) | (dict(self.settings) if id in self.shape.broker_ids else {})

    def topic_id(self, topic: str) -> Uuid:
        found = [member.node.image.topic_ids.get(topic) for member in self.brokers if member.node is not None]
        id = next((id for id in found if id is not None), self._topic_ids.get(topic, Uuid.ZERO))
        self._topic_ids[topic] = id
        return id

    def _begin_clients(self) -> None:
        super()._begin_clients()
        self._begin_members()

    @abstractmethod
    def _begin_members(self) -> None:
        """Begins the first members of the group."""

    @abstractmethod
    def _begin_successor(self, member: Any) -> None:
        """Begins a member in the place of one that is gone."""

    def _begin(self, make: Callable[[int], ModernMember[Any] | ClassicGroupMember]) -> None:
        member = make(next(self._numbers))
        self.group_members.append(member)
        self.world.after(self.world.random.randint(0, 2000), member.begin)

    def replace(self, member: ModernMember[Any] | ClassicGroupMember) -> None:
        """A member is gone; another one comes."""
        self.group_members.remove(member)
        self.replaced += 1
        self._begin_successor(member)

    def _let_grow(self, watch: Watch, counts: Sequence[int]) -> None:
        """A topic gets these numbers of partitions, one after the other."""
        self._growing.append(Growth(self, watch, counts))
        self._growing[-1].begin()

    def grown(self, watch: Watch) -> None:
        """A topic has got partitions."""

    def term(self, id: int) -> int | None:
        """The leader epoch in which this broker coordinates the group; None if it does not."""
        coordinator = self.coordinator_of(CONSUMER_OFFSETS)
        leads = coordinator is not None and coordinator.id == id
        return self.watch.internal[CONSUMER_OFFSETS].partitions[0].leader_epoch if leads else None

    @property
    def group(self) -> Any:
        """The group at its coordinator; None where there is none."""
        coordinator = self.coordinator_of(CONSUMER_OFFSETS)
        shards = [] if coordinator is None or coordinator.node is None else [*coordinator.node.groups]
        return shards[0].groups.get(NAME) if shards else None

    def figures(self) -> dict[str, int]:
        """What has happened to the group."""
        return {"members replaced": self.replaced}

    def state(self) -> str:
        return f"{super().state()}, {self.group_members}, {self.group!r}"

    def recover(self) -> None:
        """Ends all faults: the group becomes Stable, with the members that live."""
        self.is_ending = True
        for producer in self.producers:
            producer.is_ending = True
        self.end_faults()
        self.require(lambda: all(growth.is_over for growth in self._growing), "a topic does not get its partitions")
        self.await_order()
        self.require(self._is_stable, "the group does not become Stable, with its whole assignment", self.stable_within)
        self._finish()
        for member in self.group_members:
            member.die()
        super().recover()

    def _is_stable(self) -> bool:
        group = self.group
        names = {member.member_id for member in self.group_members}
        return group is not None and group.state_name == "Stable" and set(group.members) == names and self._is_shared()

    @abstractmethod
    def _is_shared(self) -> bool:
        """Whether the members have everything that the group assigns."""

    def _finish(self) -> None:
        """Called when the group is Stable, before its members stop."""
