"""Which logs a node keeps, and where: the seam behind which memory and log directories are siblings.

Rules. A log is opened when this node begins to hold a replica of its partition, and deleted with its topic; between the two it is the same
object. Nothing here knows who leads, or what the records mean. Time comes in as `now` (ms).
"""

from collections.abc import Collection, Container, Sequence
from typing import Protocol

from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..log.config import LogConfig
from ..log.log import PartitionLog
from ..raft.quorum_state import QuorumStateStore
from ..raft.snapshots.store import SnapshotStore
from .outage import Outage
from .place import Place


class Logs(Protocol):
    """All logs of one node."""

    @property
    def cluster_id(self) -> str | None:
        """The cluster that they belong to; None where none was written down, and the node makes one."""
        ...

    @property
    def bootstrap(self) -> Sequence[Message]:
        """The records that a new cluster was formatted to begin with; none where the controller chooses them."""
        ...

    @property
    def directories(self) -> Sequence[Uuid]:
        """The ids of the log directories that can be used (KIP-858); none where nothing has an id."""
        ...

    @property
    def has_ids(self) -> bool:
        """Whether log directories have ids at all, be they usable or not."""
        ...

    def directory_of(self, topic: str, index: int) -> Uuid | None:
        """The id of the directory that a partition lies in, though it may have failed; None where it lies in none."""
        ...

    @property
    def last_broker_epoch(self) -> int:
        """In which epoch a broker wrote to them that stopped in good order; -1 when none did, or it did not (KIP-966)."""
        ...

    def places(self) -> Sequence[Place]:
        """The log directories, with the open logs in each."""
        ...

    @property
    def failures(self) -> Collection[object]:
        """Not empty when there are `outages`; asked after every request."""
        ...

    def outages(self) -> Sequence[Outage]:
        """The directories that have failed since this was asked last."""
        ...

    def begin(self) -> None:
        """The node has read all that its start depends on, and is about to write: from now on its stop counts as unclean, until `close`."""
        ...

    def metadata(self, config: LogConfig, now: int) -> PartitionLog:
        """The log of the cluster's metadata."""
        ...

    def call_directory(self, id: Uuid) -> Uuid:
        """The id of the directory that the metadata lie in, by which the quorum tells this replica from an earlier one of the node (KIP-853);
        this one, from now on, where nothing had an id."""
        ...

    @property
    def elections(self) -> QuorumStateStore:
        """Where the quorum keeps the epoch, the leader and the vote."""
        ...

    @property
    def snapshots(self) -> SnapshotStore:
        """The snapshots of the cluster's metadata."""
        ...

    def open(self, topic: str, topic_id: Uuid, index: int, config: LogConfig, now: int) -> PartitionLog:
        """The log of a partition, with whatever an earlier life of the node left in it. DiskFailure when it cannot be had."""
        ...

    def put_aside_strays(self, known: Container[tuple[Uuid, int]]) -> None:
        """The image of the cluster is known: what an earlier life left of other topics and partitions is none of this node's."""
        ...

    def delete(self, topic: str, topic_id: Uuid, index: int, now: int) -> None:
        """The partition is gone for good; one that was never opened is no error."""
        ...

    def checkpoint(self, now: int) -> None:
        """Write down how far the logs are safe."""
        ...

    def tick(self, now: int, delay: int) -> None:
        """Remove the partitions that were deleted `delay` ms ago, and what the logs let go of long enough ago."""
        ...

    def close(self, now: int, broker_epoch: int) -> None:
        """The node, which was registered in this broker epoch, stops in good order."""
        ...
