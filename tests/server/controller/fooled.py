"""A single controller whose leader is played by the test: the controller follows node 2, and every
answer it gets comes from here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafkadouble.messages import framed
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.controller.bootstrap import format_records
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.metadata.features import new_cluster_features
from kafkadouble.server.node import Node
from kafkadouble.server.raft.messages import TOPIC
from kafkadouble.server.raft.request_manager import OutboundRequest, RequestFailure
from kafkadouble.wire.batch import Record, encode_batch
from tests.server.controllers import Controllers

LEADER, EPOCH = 2, 5


class Fooled(Controllers):
    """Node 1 of three controllers; the other two do not exist."""

    def __init__(self, settings: dict[str, object] | None = None) -> None:
        super().__init__(3, settings)
        self.kill(2)
        self.kill(3)
        self.requested: list[OutboundRequest] = []
        self.follow()

    @property
    def node(self) -> Node:
        return self.nodes[1]

    def follow(self) -> None:
        """Makes the node believe that node 2 leads."""
        leader = FetchResponse.LeaderIdAndEpoch(leader_id=LEADER, leader_epoch=EPOCH)
        self.until(lambda: bool(self.requested), 5000)
        while self.requested:
            send = self.requested.pop()
            if isinstance(send.body, FetchRequest):
                self._bring(send, fetched(code=6, leader=leader))
        assert self.node.quorum.replica.leader_id == LEADER

    def _deliver(self, node: Node, channel: Any, send: OutboundRequest) -> None:
        if channel is node.quorum and isinstance(send.body, FetchRequest | FetchSnapshotRequest):
            self.requested.append(send)
        else:
            self._carried.append(lambda: channel.answered(send.token, RequestFailure.LOST, self.now))

    def _bring(self, send: OutboundRequest, answer: Message) -> None:
        answer = type(answer).decode(answer.encode(send.version), send.version)
        self.node.quorum.answered(send.token, answer, self.now)

    def answer(self, answer: Message) -> Any:
        """Answers the next request to the leader with `answer`, if it fits; returns that
        request."""
        request_type = FetchRequest if isinstance(answer, FetchResponse) else FetchSnapshotRequest

        def ours() -> bool:
            return any(send.to.id == LEADER and isinstance(send.body, request_type) for send in self.requested)

        self.until(lambda: ours() or self.node.halted is not None, 5000)
        send = next(
            (send for send in self.requested if send.to.id == LEADER and isinstance(send.body, request_type)), None
        )
        self.requested.clear()
        if send is None:
            return None
        self._bring(send, answer)
        return send.body

    def give(self, batch: bytes, high_watermark: int | None = None) -> None:
        """Records, which are committed as far as the leader says."""
        self.answer(fetched(batch, 2**62 if high_watermark is None else high_watermark))

    def begin(self) -> None:
        """The records that every cluster begins with."""
        self.give(self.batch([framed.encode_record(record, 0) for record in format_records(new_cluster_features())]))
        assert self.node.controller.image.features

    def batch(self, values: Sequence[bytes | None], epoch: int = EPOCH, **extra: Any) -> bytes:
        """A batch that continues the log at its end."""
        first = self.node.quorum.log.log_end_offset
        records = [Record(first + at, self.now, None, value) for at, value in enumerate(values)]
        return bytes(encode_batch(records, base_offset=first, partition_leader_epoch=epoch, **extra))

    @property
    def kept(self) -> tuple[int, bytes]:
        """The log start offset, and the records of the log."""
        log = self.node.quorum.log
        return log.log_start_offset, b"".join(bytes(batch) for batch in log.batches(log.log_start_offset))


def fetched(
    records: bytes = b"",
    high_watermark: int = -1,
    *,
    code: int = 0,
    leader: FetchResponse.LeaderIdAndEpoch | None = None,
    diverging: OffsetAndEpoch | None = None,
    snapshot: OffsetAndEpoch | None = None,
) -> FetchResponse:
    """The leader's answer to Fetch."""
    of = FetchResponse
    data = of.PartitionData(error_code=code, high_watermark=high_watermark, records=records, log_start_offset=0)
    data.current_leader = leader or of.LeaderIdAndEpoch(leader_id=LEADER, leader_epoch=EPOCH)
    if diverging is not None:
        data.diverging_epoch = of.EpochEndOffset(epoch=diverging.epoch, end_offset=diverging.offset)
    if snapshot is not None:
        data.snapshot_id = of.SnapshotId(epoch=snapshot.epoch, end_offset=snapshot.offset)
    return of(responses=[of.FetchableTopicResponse(topic_id=Uuid.METADATA_TOPIC_ID, partitions=[data])])


def piece(id: OffsetAndEpoch, size: int, position: int, data: bytes, code: int = 0) -> FetchSnapshotResponse:
    """The leader's answer to FetchSnapshot."""
    of = FetchSnapshotResponse
    partition = of.PartitionSnapshot(
        error_code=code,
        snapshot_id=of.SnapshotId(epoch=id.epoch, end_offset=id.offset),
        size=size,
        position=position,
        unaligned_records=data,
    )
    partition.current_leader = of.LeaderIdAndEpoch(leader_id=LEADER, leader_epoch=EPOCH)
    return of(topics=[of.TopicSnapshot(name=TOPIC, partitions=[partition])])
