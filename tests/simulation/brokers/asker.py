"""A simulated client that requests the end offset of a partition, again and again (ListOffsets,
KIP-207).

The end offset in the answers never goes back, whichever broker leads: otherwise a consumer that
begins at the latest offset would read records twice, and a monitor would see negative rates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest, ListOffsetsResponse

from ..world import Broken
from .client import Client
from .consumer import TRIED_AGAIN
from .shape import TOPIC

if TYPE_CHECKING:
    from .cluster import Cluster

LOWEST, HIGHEST = 4, 10
LATEST = -1

TRIED_AGAIN_ALSO = TRIED_AGAIN | {error_codes.LEADER_NOT_AVAILABLE}


class Asker(Client):
    """`end` is the latest end offset that it received."""

    def __init__(self, cluster: Cluster, id: int, index: int) -> None:
        super().__init__(cluster, id, index)
        self.end = 0
        self._isolation = cluster.world.random.choice((0, 1))
        self._version = cluster.world.random.randint(LOWEST, HIGHEST)
        self._asked_in = -1  # the leader epoch of the request in flight

    @property
    def has_all(self) -> bool:
        return self.end == self.cluster.watch.histories[self.index].end

    def go_on(self) -> None:
        of = ListOffsetsRequest
        asked = of.ListOffsetsPartition(
            partition_index=self.index, current_leader_epoch=self.leader_epoch, timestamp=LATEST
        )
        topics = [of.ListOffsetsTopic(name=TOPIC, partitions=[asked])]
        body = of(replica_id=-1, isolation_level=self._isolation, topics=topics)
        self._asked_in = self.leader_epoch
        self.ask(self.leader, body, self._version, self._answered)

    def _answered(self, answer: ListOffsetsResponse | None) -> None:
        if answer is None:
            self.try_again()
            return
        partition = answer.topics[0].partitions[0]
        if not partition.error_code:
            self.cluster.watch.end_answered(self, partition.offset, self._asked_in)
            self.end = partition.offset
        elif partition.error_code not in TRIED_AGAIN_ALSO:
            raise Broken(f"{self!r} is answered {error_codes.name(partition.error_code)}")
        self.later(self.world.random.randint(1, 30), self.refresh)

    def __repr__(self) -> str:
        return f"asker {self.id} of partition {self.index}, with the end offset {self.end}"
