"""The common part of the tests of KIPs about leader epochs: one partition `t-0` of a node, with a
method of one line for each request."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.replica import leadership
from tests.server.harness import Harness, Pending
from tests.server.log.batches import NOW, produced
from tests.server.topic_requests import appending

ANY = -1
LATEST, EARLIEST = -1, -2


class Story:
    """A node, and the topic `t` of one partition."""

    def __init__(self) -> None:
        self.cluster = Harness()
        self.cluster.create("t")

    @property
    def log(self) -> PartitionLog:
        return self.cluster.partition("t").log

    @property
    def epochs(self) -> list[tuple[int, int]]:
        """(epoch, its start offset)."""
        return known(self.log)

    def elect(self) -> int:
        """Begins a new leader epoch."""
        epoch = leadership.elect(self.cluster.node, self.cluster.partition("t"))
        self.cluster.tick(0)
        return epoch

    def lose(self, offset: int) -> int:
        """Loses the tail from an offset on, under a new epoch."""
        epoch = leadership.lose_tail(self.cluster.node, self.cluster.partition("t"), offset)
        self.cluster.tick(0)
        return epoch

    def produce(self, *counts: int) -> None:
        """Appends a batch of each of these record counts."""
        for count in counts:
            assert self.append(produced(count)).error_code == 0

    def append(self, batch: bytes | bytearray) -> Any:
        """The answer to a Produce of one batch."""
        answer = self.cluster.submit(appending("t", batch), 9)
        return answer.responses[0].partition_responses[0]

    def end_of(
        self, epoch: int, current: int = ANY, *, topic: str = "t", index: int = 0, version: int = 4, replica: int = -1
    ) -> tuple[int, int, int]:
        """(error code, epoch, end offset) of OffsetForLeaderEpoch."""
        requested = OffsetForLeaderEpochRequest.OffsetForLeaderPartition(
            partition=index, current_leader_epoch=current, leader_epoch=epoch
        )
        of = OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic=topic, partitions=[requested])
        request = OffsetForLeaderEpochRequest(topics=[of])
        if version >= 3:
            request.replica_id = replica
        one = self.cluster.submit(request, version).topics[0].partitions[0]
        return one.error_code, one.leader_epoch, one.end_offset

    def offset_at(self, timestamp: int, current: int = ANY, version: int = 9) -> Any:
        """The answer of ListOffsets for the partition."""
        requested = ListOffsetsRequest.ListOffsetsPartition(
            partition_index=0, current_leader_epoch=current, timestamp=timestamp
        )
        topic = ListOffsetsRequest.ListOffsetsTopic(name="t", partitions=[requested])
        answer = self.cluster.submit(ListOffsetsRequest(replica_id=-1, topics=[topic]), version)
        return answer.topics[0].partitions[0]

    def metadata(self, version: int = 12) -> Any:
        """The answer of Metadata for the partition."""
        requested = MetadataRequest.MetadataRequestTopic(name="t")
        return self.cluster.submit(MetadataRequest(topics=[requested]), version).topics[0].partitions[0]

    def fetch(self, offset: int, current: int = ANY, last: int = ANY, version: int = 12) -> Any:
        """The answer of a Fetch that does not wait."""
        return self.begin_fetch(offset, current, last, version, wait=0).response.responses[0].partitions[0]

    def begin_fetch(
        self, offset: int, current: int = ANY, last: int = ANY, version: int = 12, *, wait: int = 5000, least: int = 1
    ) -> Pending:
        """A Fetch that may wait."""
        requested = FetchRequest.FetchPartition(
            partition=0, fetch_offset=offset, current_leader_epoch=current, partition_max_bytes=1 << 20
        )
        if version >= 12:
            requested.last_fetched_epoch = last
        named = FetchRequest.FetchTopic(topic="t", partitions=[requested])
        if version >= 13:
            named = FetchRequest.FetchTopic(topic_id=self.cluster.partition("t").topic_id, partitions=[requested])
        request = FetchRequest(max_wait_ms=wait, min_bytes=least, max_bytes=1 << 20, session_epoch=-1, topics=[named])
        return self.cluster.begin(request, version)


def known(log: PartitionLog) -> list[tuple[int, int]]:
    """The epochs that a log knows: (epoch, its start offset)."""
    return [(entry.epoch, entry.offset) for entry in log.epochs.entries]


def bytes_of(log: PartitionLog) -> bytes:
    return b"".join(bytes(batch) for batch in log.batches(log.log_start_offset))


def replicate(leader: PartitionLog, follower: PartitionLog) -> None:
    """Appends everything that the follower lacks."""
    data = b"".join(bytes(batch) for batch in leader.batches(follower.log_end_offset))
    follower.append_as_follower(data, now=NOW)
