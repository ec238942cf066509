"""A simulated cluster with a streams group."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

from ....world import World
from ...shape import TOPIC, Shape
from ..owning_cluster import OwningGroupCluster
from . import promises
from .member import StreamsMember, Task
from .topology import CHANGELOG, COUNTS, LATE, READS, READS_LATE, REPARTITION


class StreamsGroupCluster(OwningGroupCluster):
    """`sources` are the topics that the application reads."""

    settings: ClassVar[Mapping[str, object]] = {
        "group.streams.min.session.timeout.ms": 1000,
        "group.streams.session.timeout.ms": 6000,
        "group.streams.min.heartbeat.interval.ms": 100,
        "group.streams.heartbeat.interval.ms": 400,
    }

    def __init__(self, world: World, shape: Shape) -> None:
        super().__init__(world, shape)
        self.sources = [TOPIC, LATE] if world.random.random() < 0.5 else [TOPIC]

    def settings_of(self, id: int) -> dict[str, object]:
        settings = super().settings_of(id)
        if id in self.shape.broker_ids:
            settings["group.streams.num.standby.replicas"] = self.shape.standby_replicas
            settings["group.streams.assignment.interval.ms"] = self.shape.assignment_interval_ms
            settings["group.streams.initial.rebalance.delay.ms"] = self.shape.initial_delay_ms
        return settings

    def _begin_members(self) -> None:
        for number in range(self.shape.streams_members):
            self._begin_member(f"i{number}" if self.world.random.random() < 0.4 else None)
        self._let_grow(self.watch.add(LATE), [1, 2])

    def _begin_member(self, instance: str | None) -> None:
        self._begin(lambda id: StreamsMember(self, id, f"k{id}", instance))

    def _begin_successor(self, member: StreamsMember) -> None:
        self._begin_member(member.instance)

    def everything(self) -> Collection[Task]:
        """Every active task."""
        counts = {READS: len(self.partitions), COUNTS: len(self.partitions)}
        if LATE in self.sources:
            counts[READS_LATE] = len(self.watch.internal[LATE].partitions)
        return [(id, index) for id, count in counts.items() for index in range(count)]

    def _finish(self) -> None:
        for topic in (REPARTITION, CHANGELOG):
            promises.internal_topic_fits(topic, self.watch.image.topic_named(topic), len(self.partitions))
        for member in self.group_members:
            promises.copies_are_elsewhere(member, self.group_members)
