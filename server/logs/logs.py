"""All logs of a node (Kafka's LogManager). Memory and log directories implement this interface.

Rules. A log is opened when this node gets a replica of its partition, and deleted with its topic;
in between it is the same object. Nothing here knows which broker leads a partition, or what its
records mean. Time comes in as `now` (ms).
"""

from collections.abc import Collection, Container, Sequence
from typing import Protocol

from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..log.config import LogConfig
from ..log.log import PartitionLog
from ..raft.quorum_state import QuorumStateStore
from ..raft.snapshots.store import SnapshotStore
from .future_logs import FutureLog, FutureLogs
from .log_dir_description import LogDirDescription
from .outage import Outage


class Logs(Protocol):
    """All logs of one node."""

    @property
    def cluster_id(self) -> str | None:
        """The cluster that the logs belong to; None when none was written, and the node makes an
        id."""
        ...

    @property
    def bootstrap(self) -> Sequence[Message]:
        """The first records of a new cluster, if it was formatted with some; otherwise the
        controller chooses them."""
        ...

    @property
    def directories(self) -> Sequence[Uuid]:
        """The ids of the log directories that are in use (KIP-858); none when no directory has an
        id."""
        ...

    @property
    def has_ids(self) -> bool:
        """Whether log directories have ids, whether or not they are in use."""
        ...

    def directory_of(self, topic: str, index: int) -> Uuid | None:
        """The id of a partition's directory, which may have failed; None when the partition is in
        none."""
        ...

    @property
    def last_broker_epoch(self) -> int:
        """The epoch of the last broker that wrote to the logs and stopped cleanly; -1 when there is
        none (KIP-966)."""
        ...

    def log_dirs(self) -> Sequence[LogDirDescription]:
        """The log directories, with the open logs in each."""
        ...

    @property
    def failures(self) -> Collection[object]:
        """Not empty when there are `outages`; checked after every request."""
        ...

    def outages(self) -> Sequence[Outage]:
        """The directories that have failed since the last call."""
        ...

    def check(self) -> None:
        """A broker is about to use the partitions. UsageError for a folder in a log directory that
        is not of a partition. A directory with a damaged checkpoint fails."""
        ...

    def begin(self) -> None:
        """The node has read everything that its start depends on, and is about to write: from now
        on a stop is unclean, until `close`."""
        ...

    def metadata(self, config: LogConfig, now: int) -> PartitionLog:
        """The metadata log."""
        ...

    def call_directory(self, id: Uuid) -> Uuid:
        """The id of the directory of the metadata log. With it the quorum tells this replica from
        an earlier one of the same node (KIP-853). When no directory has an id, `id` becomes the
        id."""
        ...

    @property
    def elections(self) -> QuorumStateStore:
        """The election state of the quorum: epoch, leader and vote."""
        ...

    @property
    def snapshots(self) -> SnapshotStore:
        """The snapshots of the metadata."""
        ...

    def open(self, topic: str, topic_id: Uuid, index: int, config: LogConfig, now: int) -> PartitionLog:
        """The log of a partition, with the records of earlier runs of the node. DiskFailure when it
        cannot be opened."""
        ...

    @property
    def future_logs(self) -> FutureLogs | None:
        """The future replicas of partitions; None in memory, where no replica can move."""
        ...

    def path_of(self, topic: str, index: int) -> str | None:
        """The absolute path of a partition's directory, which may have failed; None when the
        partition is in none, and in memory."""
        ...

    def is_offline(self, topic: str, index: int) -> bool:
        """Whether the log of a partition was lost with its directory, or alone."""
        ...

    def prefer(self, topic: str, index: int, path: str) -> None:
        """Remembers the directory in which a partition that is not here yet is to be created."""
        ...

    def create_future(
        self, topic: str, topic_id: Uuid, index: int, path: str, config: LogConfig, now: int
    ) -> FutureLog:
        """Creates an empty future replica of a partition in another directory. DiskFailure."""
        ...

    def replace_current(self, topic: str, index: int, now: int) -> PartitionLog:
        """Puts the future replica of a partition in the place of its log, which is deleted; returns
        the new log. Both have the same records. DiskFailure, and then nothing has changed."""
        ...

    def put_aside_strays(self, known: Container[tuple[Uuid, int]]) -> None:
        """The metadata image is known: folders of topics and partitions that are not `known` are
        renamed as stray."""
        ...

    def delete(self, topic: str, topic_id: Uuid, index: int, now: int) -> None:
        """Deletes a partition for good; one that was never opened is no error."""
        ...

    def checkpoint(self, now: int, which: Collection[str] | None = None) -> None:
        """Writes the offset checkpoints with these names, or all."""
        ...

    def tick(self, now: int, delay: int) -> None:
        """Removes the partitions that were deleted `delay` ms ago, and the segments that were
        deleted `file.delete.delay.ms` ago."""
        ...

    def close(self, now: int, broker_epoch: int) -> None:
        """Closes all logs and marks the directories as cleanly stopped, by a node that was
        registered in this broker epoch."""
        ...
