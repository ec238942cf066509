"""An external reader, which reads the newest snapshot of the leader piece by piece, over and over
(KIP-630).

Each answer is checked: it has as many bytes as were requested, as
`replica.fetch.response.max.bytes` allows and as are left. A whole snapshot must be a state that was
committed. When anything fails, such as a change of the leader, a deleted snapshot or a node that
hangs, the reader starts again with nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.messages import TOPIC
from kafkadouble.server.raft.raft_log import BOOTSTRAP
from kafkadouble.server.raft.snapshots.snapshot_reader import BytesSource, RecordsSnapshotReader

from .kept import values_in
from .process import CLUSTER
from .state import State
from .world import Broken

if TYPE_CHECKING:
    from .cluster import Cluster
    from .node import Node

OUTSIDER_ID = 900
PATIENCE = 600
"""Time (ms) after which the reader stops waiting for an answer."""


class Reader:
    """`whole` is the number of snapshots it has read. `max_bytes` is the size it requests each
    time."""

    def __init__(self, cluster: Cluster, max_bytes: int) -> None:
        self._cluster, self._max_bytes = cluster, max_bytes
        self.whole = 0
        self._asked = 0
        self._data = bytearray()
        self._begin()

    def _begin(self) -> None:
        """Starts with nothing, at the node that leads now."""
        self._data = bytearray()
        node = self._cluster.leader
        process = None if node is None else node.process
        ids = [] if process is None else [id for id in process.store.ids() if id != BOOTSTRAP]
        if node is None or not ids:
            self._cluster.world.after(100, self._begin)
        else:
            self._ask(node, ids[-1])

    def _ask(self, node: Node, id: OffsetAndEpoch) -> None:
        of, world = FetchSnapshotRequest, self._cluster.world
        self._asked += 1
        number, epoch = self._asked, -1 if node.replica is None else node.replica.epoch
        partition = of.PartitionSnapshot(
            current_leader_epoch=epoch,
            snapshot_id=of.SnapshotId(end_offset=id.offset, epoch=id.epoch),
            position=len(self._data),
        )
        topics = [of.TopicSnapshot(name=TOPIC, partitions=[partition])]
        body = of(cluster_id=CLUSTER, replica_id=OUTSIDER_ID, max_bytes=self._max_bytes, topics=topics)

        def answered(response: Any) -> None:
            world.after(world.random.randint(0, 20), lambda: self._take(node, id, response, number))

        world.after(PATIENCE, lambda: self._give_up(number))
        node.ask(body, 1, answered)

    def _give_up(self, number: int) -> None:
        if number == self._asked:
            self._begin()

    def _take(self, node: Node, id: OffsetAndEpoch, response: FetchSnapshotResponse, number: int) -> None:
        if number != self._asked:
            return
        if response.error_code or response.topics[0].partitions[0].error_code:
            self._asked += 1
            self._cluster.world.after(50, self._begin)
            return
        partition = response.topics[0].partitions[0]
        most = self._cluster.shape.response_bytes
        budget = self._max_bytes if most is None else min(self._max_bytes, most)
        given, left = len(partition.unaligned_records or b""), partition.size - partition.position
        if given != min(budget, left):
            raise Broken(f"{given} bytes of {left} are given, where {budget} may be")
        self._data += partition.unaligned_records or b""
        if len(self._data) < partition.size:
            self._ask(node, id)
        else:
            self._end(id)

    def _end(self, id: OffsetAndEpoch) -> None:
        """A complete snapshot must be a state that was committed."""
        state = State.loaded(values_in(RecordsSnapshotReader(id, BytesSource(self._data))))
        if state != self._cluster.watch.committed.states[id.offset]:
            raise Broken(f"the snapshot up to {id!r} is not the state there: {state!r}")
        self._cluster.world.note("the snapshot up to {} is read", id)
        self.whole += 1
        self._asked += 1
        self._cluster.world.after(300, self._begin)
