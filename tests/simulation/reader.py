"""Somebody from outside who reads the newest snapshots of both topics at once: FetchSnapshot of two partitions, which share MaxBytes (KIP-630).

Each answer is looked at: no more bytes than were asked for in all, and for each topic its share at least. When both are whole, they must be one
state. Whatever goes wrong on the way, another leader, a snapshot that is deleted, a node that hangs, it begins anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.messages import TOPIC
from kafkadouble.server.raft.snapshots.reading import Bytes, SnapshotReader

from .kept import values_in
from .process import CLUSTER
from .state import KEYS_TOPIC, State
from .world import Broken

if TYPE_CHECKING:
    from .cluster import Cluster
    from .node import Node

NOBODY_OF_OURS = 900
PATIENCE = 600
"""Time (ms) after which no answer is waited for."""


class Reader:
    """`whole` says how often it has read both. `max_bytes` is what it asks for in each request."""

    def __init__(self, cluster: Cluster, max_bytes: int) -> None:
        self._cluster, self._max_bytes = cluster, max_bytes
        self.whole = 0
        self._asked = 0
        self._data: dict[str, bytearray] = {}
        self._sizes: dict[str, int] = {}
        self._begin()

    @property
    def _due(self) -> list[str]:
        return [topic for topic, data in self._data.items() if self._sizes.get(topic) != len(data)]

    def _begin(self) -> None:
        """With nothing, at whoever leads now."""
        self._data = {TOPIC: bytearray(), KEYS_TOPIC: bytearray()}
        self._sizes = {}
        node = self._cluster.leader
        process = None if node is None else node.process
        ids = [] if process is None else [id for id in process.store.ids() if id in process.keys.ids()]
        if node is None or not ids:
            self._cluster.world.after(100, self._begin)
        else:
            self._ask(node, ids[-1])

    def _ask(self, node: Node, id: OffsetAndEpoch) -> None:
        of, world = FetchSnapshotRequest, self._cluster.world
        self._asked += 1
        number, epoch = self._asked, -1 if node.replica is None else node.replica.epoch
        due = self._due
        topics = [
            of.TopicSnapshot(
                name=topic,
                partitions=[
                    of.PartitionSnapshot(
                        current_leader_epoch=epoch,
                        snapshot_id=of.SnapshotId(end_offset=id.offset, epoch=id.epoch),
                        position=len(self._data[topic]),
                    )
                ],
            )
            for topic in due
        ]
        body = of(cluster_id=CLUSTER, replica_id=NOBODY_OF_OURS, max_bytes=self._max_bytes, topics=topics)

        def answered(response: Any) -> None:
            world.after(world.random.randint(0, 20), lambda: self._take(node, id, due, response, number))

        world.after(PATIENCE, lambda: self._give_up(number))
        node.ask(body, 1, answered)

    def _give_up(self, number: int) -> None:
        if number == self._asked:
            self._begin()

    def _take(
        self, node: Node, id: OffsetAndEpoch, due: list[str], response: FetchSnapshotResponse, number: int
    ) -> None:
        if number != self._asked:
            return
        found = {topic.name: topic.partitions[0] for topic in response.topics}
        if response.error_code or any(each.error_code for each in found.values()):
            self._asked += 1
            self._cluster.world.after(50, self._begin)
            return
        if list(found) != due:
            raise Broken(f"{due} were asked for, and {list(found)} answered")
        self._check_shares(found)
        for topic, partition in found.items():
            self._data[topic] += partition.unaligned_records or b""
            self._sizes[topic] = partition.size
        if self._due:
            self._ask(node, id)
        else:
            self._end(id)

    def _check_shares(self, found: dict[str, FetchSnapshotResponse.PartitionSnapshot]) -> None:
        most = self._cluster.shape.response_bytes
        budget = self._max_bytes if most is None else min(self._max_bytes, most)
        given = {topic: len(each.unaligned_records or b"") for topic, each in found.items()}
        left = {topic: each.size - each.position for topic, each in found.items()}
        if sum(given.values()) != min(budget, sum(left.values())):
            raise Broken(f"{given} bytes of {left} are given, where {budget} may be")
        if any(given[topic] < min(left[topic], budget // len(found)) for topic in found):
            raise Broken(f"{given} bytes of {left} are given, and that is no fair share of {budget}")

    def _end(self, id: OffsetAndEpoch) -> None:
        """Both are whole: they are one state, and that was committed."""
        values, keys = (values_in(SnapshotReader(id, Bytes(self._data[topic]))) for topic in (TOPIC, KEYS_TOPIC))
        state = State.loaded(values)
        if state != self._cluster.watch.committed.states[id.offset] or state.keys() != keys:
            raise Broken(f"the snapshots up to {id!r} are not one state: {state!r} and {keys}")
        self._cluster.world.note("both snapshots up to {} are read", id)
        self.whole += 1
        self._asked += 1
        self._cluster.world.after(300, self._begin)
