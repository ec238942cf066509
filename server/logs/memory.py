"""Logs in memory: gone with the process, unless somebody keeps this object and gives it to the next node, as a disk would be."""

from collections.abc import Collection, Container, Sequence

from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..internal_topics import METADATA_TOPIC
from ..log.config import LogConfig
from ..log.log import PartitionLog
from .outage import Outage


class MemoryLogs:
    """All logs of one node; see `logs.Logs`."""

    failures: Collection[object] = ()

    def __init__(self) -> None:
        self.cluster_id: str | None = None
        self.bootstrap: Sequence[Message] = ()
        self.directories: Sequence[Uuid] = ()
        self._logs: dict[tuple[Uuid, int], PartitionLog] = {}

    def outages(self) -> Sequence[Outage]:
        return ()

    def metadata(self, now: int) -> PartitionLog:
        return self.open(METADATA_TOPIC, Uuid.METADATA_TOPIC_ID, 0, LogConfig(), now)

    def open(self, topic: str, topic_id: Uuid, index: int, config: LogConfig, now: int) -> PartitionLog:
        log = self._logs.get((topic_id, index))
        if log is None:
            log = self._logs[topic_id, index] = PartitionLog(topic, index, config)
        log.config = config
        return log

    def put_aside_strays(self, known: Container[tuple[Uuid, int]]) -> None: ...

    def delete(self, topic: str, topic_id: Uuid, index: int, now: int) -> None:
        self._logs.pop((topic_id, index), None)

    def checkpoint(self, now: int) -> None: ...

    def tick(self, now: int, delay: int) -> None: ...

    def close(self, now: int, broker_epoch: int) -> None: ...

    def __repr__(self) -> str:
        return f"{len(self._logs)} logs in memory"
