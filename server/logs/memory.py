"""The logs of one node in memory. They are lost with the process. A test may keep this object and
pass it to the next node, as if it were a disk, or a copy of it.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from typing import TYPE_CHECKING

from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..log.config import LogConfig
from ..log.log import PartitionLog
from ..log.memory import MemoryStorage
from ..metadata.internal_topics import METADATA_TOPIC
from ..raft.quorum_state import MemoryQuorumStateStore
from ..raft.snapshots.memory_store import MemorySnapshotStore

if TYPE_CHECKING:
    from .future_logs import FutureLog
    from .log_dir_description import LogDirDescription
    from .outage import Outage


class MemoryLogs:
    """All logs of one node; see `logs.Logs`."""

    failures: Collection[object] = ()
    future_logs = None

    def __init__(self) -> None:
        self.cluster_id: str | None = None
        self.bootstrap: Sequence[Message] = ()
        self.directories: Sequence[Uuid] = ()
        self.last_broker_epoch = -1
        self._logs: dict[tuple[Uuid, int], PartitionLog] = {}
        self._storages: dict[tuple[Uuid, int], MemoryStorage] = {}
        self.metadata_directory: Uuid | None = None
        self.elections = MemoryQuorumStateStore()
        self.snapshots = MemorySnapshotStore()

    @property
    def has_ids(self) -> bool:
        return bool(self.directories)

    def directory_of(self, topic: str, index: int) -> Uuid | None:
        return self.metadata_directory if self.directories else None

    def outages(self) -> Sequence[Outage]:
        return ()

    def log_dirs(self) -> Sequence[LogDirDescription]:
        from .log_dir_description import LogDirDescription

        return [
            LogDirDescription(
                None, {(log.topic, log.index): log for log in self._logs.values() if log.topic != METADATA_TOPIC}
            )
        ]

    def check(self) -> None: ...

    def begin(self) -> None: ...

    def metadata(self, config: LogConfig, now: int) -> PartitionLog:
        return self.open(METADATA_TOPIC, Uuid.METADATA_TOPIC_ID, 0, config, now)

    def open(self, topic: str, topic_id: Uuid, index: int, config: LogConfig, now: int) -> PartitionLog:
        log = self._logs.get((topic_id, index))
        if log is None:
            storage = self._storages[topic_id, index] = MemoryStorage(0, config.index_interval_bytes)
            log = self._logs[topic_id, index] = PartitionLog(topic, index, config, storage)
        log.config = config
        return log

    def call_directory(self, id: Uuid) -> Uuid:
        if self.metadata_directory is None:
            self.metadata_directory = id
            self.directories = [id]
        return self.metadata_directory

    def path_of(self, topic: str, index: int) -> str | None:
        return None

    def is_offline(self, topic: str, index: int) -> bool:
        return False

    def prefer(self, topic: str, index: int, path: str) -> None: ...

    def create_future(
        self, topic: str, topic_id: Uuid, index: int, path: str, config: LogConfig, now: int
    ) -> FutureLog:
        raise NotImplementedError("no replica moves in memory")

    def replace_current(self, topic: str, index: int, now: int) -> PartitionLog:
        raise NotImplementedError("no replica moves in memory")

    def put_aside_strays(self, known: Container[tuple[Uuid, int]]) -> None: ...

    def delete(self, topic: str, topic_id: Uuid, index: int, now: int) -> None:
        self._logs.pop((topic_id, index), None)
        self._storages.pop((topic_id, index), None)

    def checkpoint(self, now: int, which: Collection[str] | None = None) -> None: ...

    def tick(self, now: int, delay: int) -> None: ...

    def close(self, now: int, broker_epoch: int) -> None:
        self.last_broker_epoch = broker_epoch

    def discard(self) -> None:
        """Frees the memory of the batches. The logs are not used any more, but circles of
        references keep them for a while."""
        for storage in self._storages.values():
            storage.restart(0)

    def copy(self) -> MemoryLogs:
        """The same logs for another node, with batches in the same memory."""
        made = MemoryLogs()
        made.cluster_id, made.bootstrap, made.directories = self.cluster_id, self.bootstrap, self.directories
        made.last_broker_epoch, made.metadata_directory = self.last_broker_epoch, self.metadata_directory
        made.elections = MemoryQuorumStateStore(self.elections.load())
        for id in self.snapshots.ids():
            made.snapshots.add(id, self.snapshots.bytes_of(id))
        made._storages = {key: storage.copy() for key, storage in self._storages.items()}
        made._logs = {key: log.copy(made._storages[key]) for key, log in self._logs.items()}
        return made

    @property
    def size(self) -> int:
        """The size of all logs in bytes."""
        return sum(log.size for log in self._logs.values())

    def __repr__(self) -> str:
        return f"{len(self._logs)} logs in memory"
