"""Topics that change while a group goes on: they are made, and get partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.create_partitions import CreatePartitionsRequest

from ..cluster import CREATE_TOPICS_VERSION
from ..watch import Watch

if TYPE_CHECKING:
    from .cluster import GroupCluster

CREATE_PARTITIONS_VERSION = 3
AGAIN_MS = 1000


class Growth:
    """One topic, watched by `watch`; `counts` are the numbers of partitions that it gets, one after
    the other. A change is requested until the controllers have made it."""

    def __init__(self, cluster: GroupCluster, watch: Watch, counts: Sequence[int]) -> None:
        self._cluster, self._world, self._watch = cluster, cluster.world, watch
        self._counts = [*counts]

    @property
    def is_over(self) -> bool:
        return not self._counts

    def begin(self) -> None:
        self._world.after(self._world.random.randint(500, 6000), self._go_on)

    def _go_on(self) -> None:
        while self._counts and len(self._watch.partitions) >= self._counts[0]:
            del self._counts[0]
            self._cluster.grown(self._watch)
            if self._counts and not self._cluster.is_ending:
                self.begin()
                return
        if self._counts:
            self._request(self._counts[0])
            self._world.after(AGAIN_MS, self._go_on)

    def _request(self, count: int) -> None:
        topic, cluster = self._watch.topic, self._cluster
        self._world.note("{} is to have {} partitions", topic, count)
        if not self._watch.partitions:
            cluster.tell_controller(cluster.creation(topic, count), CREATE_TOPICS_VERSION)
            return
        of = CreatePartitionsRequest
        added = [
            of.CreatePartitionsAssignment(
                broker_ids=self._world.random.sample(cluster.shape.broker_ids, cluster.shape.replicas)
            )
            for _ in range(len(self._watch.partitions), count)
        ]
        body = of(topics=[of.CreatePartitionsTopic(name=topic, count=count, assignments=added)], timeout_ms=1000)
        cluster.tell_controller(body, CREATE_PARTITIONS_VERSION)
