"""A partition of a Kafka and its log, read from its leader, in place of a double's `Partition`.

Rules. A client does not see what its leader has beyond the high watermark: the log end offset is
the high watermark.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from kafkadouble.common.errors import raise_for
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.messages.generated.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.batch_walk import iter_batches

EARLIEST, LATEST = -2, -1
UNCOMMITTED, COMMITTED = 0, 1
WAIT_MS, MOST_BYTES = 500, 16 << 20

DEFAULT_MAX_BYTES = "1048588"
"""Kafka's default of `max.message.bytes`."""


class AbortedRange(NamedTuple):
    """An aborted transaction that reaches into what was fetched."""

    producer_id: int
    first_offset: int


class RemoteRead(NamedTuple):
    """Whole batches, and the offset after them."""

    records: bytes
    next_offset: int


class EpochStart(NamedTuple):
    """A leader epoch and its first offset."""

    epoch: int
    offset: int


class RemoteEpochs(NamedTuple):
    """The leader epochs of a log, oldest first."""

    entries: list[EpochStart]


class RemoteLogConfig(NamedTuple):
    """The settings of a topic that a producer must know."""

    max_message_bytes: int


class RemotePartition:
    """`ask` gets the response of the leader to a request; `configs` are those that were set for
    the topic."""

    def __init__(
        self,
        topic: str,
        topic_id: Uuid,
        index: int,
        leader_epoch: int,
        ask: Callable[[Message], Any],
        configs: Callable[[], dict[str, str]],
    ) -> None:
        self.topic, self.topic_id, self.index, self.leader_epoch = topic, topic_id, index, leader_epoch
        self.log = RemoteLog(self, ask, configs)

    def __repr__(self) -> str:
        return f"{self.topic}-{self.index} of a Kafka"


class RemoteLog:
    """The log of a partition at its leader. Every property is a request."""

    def __init__(
        self, partition: RemotePartition, ask: Callable[[Message], Any], configs: Callable[[], dict[str, str]]
    ) -> None:
        self._partition, self._ask, self._configs = partition, ask, configs

    @property
    def log_start_offset(self) -> int:
        return self._offset(EARLIEST, UNCOMMITTED)

    @property
    def high_watermark(self) -> int:
        return self._offset(LATEST, UNCOMMITTED)

    @property
    def log_end_offset(self) -> int:
        """The high watermark, as far as a client sees."""
        return self.high_watermark

    @property
    def last_stable_offset(self) -> int:
        return self._offset(LATEST, COMMITTED)

    @property
    def config(self) -> RemoteLogConfig:
        return RemoteLogConfig(int(self._configs().get("max.message.bytes", DEFAULT_MAX_BYTES)))

    @property
    def epochs(self) -> RemoteEpochs:
        """The leader epochs, read from the newest one back: each begins where the one before it
        ends."""
        found, epoch = list[EpochStart](), self._partition.leader_epoch
        while (last := self._end_of_epoch(epoch)).epoch >= 0:
            before = self._end_of_epoch(last.epoch - 1) if last.epoch else EpochStart(-1, -1)
            start = before.offset if before.epoch >= 0 else self.log_start_offset
            found.insert(0, EpochStart(last.epoch, start))
            epoch = last.epoch - 1
            if before.epoch < 0:
                break
        return RemoteEpochs(found)

    def read(self, offset: int, size: int, end: int) -> RemoteRead:
        """The batches from an offset on, at most so many bytes, unless the first is larger."""
        found = self._fetched(offset, min(size, MOST_BYTES), UNCOMMITTED)
        data = bytes(found.records or b"")
        whole, following = 0, offset
        for position, header in iter_batches(data, partial=True):
            if header.base_offset >= end:
                break
            whole, following = position + header.size, header.next_offset
        return RemoteRead(data[:whole], following)

    def aborted_in(self, start: int, end: int) -> list[AbortedRange]:
        """The aborted transactions between two offsets."""
        found: dict[AbortedRange, None] = {}
        while start < end:
            fetched = self._fetched(start, MOST_BYTES, COMMITTED)
            for each in fetched.aborted_transactions or ():
                found[AbortedRange(each.producer_id, each.first_offset)] = None
            ends = [header.next_offset for _, header in iter_batches(bytes(fetched.records or b""), partial=True)]
            if not ends or ends[-1] <= start:
                break
            start = ends[-1]
        return list(found)

    def _offset(self, when: int, isolation: int) -> int:
        at, made = self._partition, ListOffsetsRequest
        partition = made.ListOffsetsPartition(partition_index=at.index, timestamp=when)
        topics = [made.ListOffsetsTopic(name=at.topic, partitions=[partition])]
        answer = self._ask(made(replica_id=-1, isolation_level=isolation, topics=topics))
        return int(self._checked(answer.topics[0].partitions[0]).offset)

    def _end_of_epoch(self, epoch: int) -> EpochStart:
        """The largest epoch that is not above this one, and its end."""
        at, made = self._partition, OffsetForLeaderEpochRequest
        partition = made.OffsetForLeaderPartition(partition=at.index, leader_epoch=epoch)
        topics = [made.OffsetForLeaderTopic(topic=at.topic, partitions=[partition])]
        found = self._checked(self._ask(made(replica_id=-1, topics=topics)).topics[0].partitions[0])
        return EpochStart(found.leader_epoch, found.end_offset)

    def _fetched(self, offset: int, size: int, isolation: int) -> Any:
        at, made = self._partition, FetchRequest
        partition = made.FetchPartition(partition=at.index, fetch_offset=offset, partition_max_bytes=size)
        topics = [made.FetchTopic(topic=at.topic, topic_id=at.topic_id, partitions=[partition])]
        request = made(max_wait_ms=WAIT_MS, min_bytes=1, max_bytes=size, isolation_level=isolation, topics=topics)
        answer = self._ask(request)
        raise_for(answer.error_code)
        return self._checked(answer.responses[0].partitions[0])

    def _checked(self, answer: Any) -> Any:
        at = self._partition
        raise_for(answer.error_code, f"{at.topic}-{at.index}: {error_codes.meaning(answer.error_code)}")
        return answer

    def __repr__(self) -> str:
        return f"the log of {self._partition!r}"
