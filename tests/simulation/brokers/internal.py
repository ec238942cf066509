"""A simulated cluster with the topics of coordinators, and a watcher for each of them."""

from __future__ import annotations

from collections.abc import Mapping

from .cluster import Cluster
from .member import Member
from .watch import Watch


class InternalWatch(Watch):
    """`internal` are the watchers of the coordinators' topics; `topics` has their numbers of
    partitions."""

    def __init__(self, cluster: Cluster, topics: Mapping[str, int]) -> None:
        super().__init__(cluster)
        self.internal = {topic: Watch(cluster, topic, count) for topic, count in topics.items()}

    def add(self, topic: str) -> Watch:
        """Also watches a topic that is not there yet, and returns its watcher."""
        self.internal[topic] = Watch(self._cluster, topic, 0)
        for member in self._cluster.members.values():
            self.internal[topic].started(member)
        return self.internal[topic]

    def is_whole(self) -> bool:
        """Whether no committed record of any topic was lost, or may be lost at present."""
        return all(history.is_intact for watch in (self, *self.internal.values()) for history in watch.histories)

    def started(self, member: Member) -> None:
        super().started(member)
        for watch in self.internal.values():
            watch.started(member)

    def loses_power(self, member: Member) -> None:
        super().loses_power(member)
        for watch in self.internal.values():
            watch.loses_power(member)

    def look(self, member: Member) -> None:
        super().look(member)
        for watch in self.internal.values():
            watch.look(member)

    def compare(self) -> None:
        super().compare()
        for watch in self.internal.values():
            for index in watch.partitions:
                watch.compare_replicas(index)


class InternalCluster(Cluster):
    """A cluster that creates these topics, and is in order when they are, too."""

    watch: InternalWatch

    def _create_topics(self) -> None:
        super()._create_topics()
        for topic, watch in self.watch.internal.items():
            self._create(topic, len(watch.histories))

    def coordinator_of(self, topic: str, index: int = 0) -> Member | None:
        """The broker that leads a partition of a coordinator's topic."""
        return self.leader_of(topic, index, self.watch.internal[topic].partitions[index])

    def is_in_order(self) -> bool:
        return super().is_in_order() and all(self._are_in_order(watch) for watch in self.watch.internal.values())

    def _is_settled(self) -> bool:
        return super()._is_settled() and all(self._are_equal(watch) for watch in self.watch.internal.values())
