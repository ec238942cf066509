"""A replica that follows, and the answers of its leader."""

from typing import Any

from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.raft.follower_state import FollowerState
from kafkadouble.server.raft.request_manager import OutboundRequest
from kafkadouble.wire.batch import Record, encode_batch
from tests.server.raft.asking import ask, begin, member
from tests.server.raft.quorum import START, Member, endpoint


class Followed:
    """Node 1 follows 2 in epoch 4; its fetches are answered by this test."""

    def __init__(self, **extra: Any) -> None:
        self.member: Member = member(**extra)
        self.replica = self.member.replica
        ask(self.member, begin(2, 4, voter=self.member.id))
        self.now = START

    @property
    def fetch_timeout(self) -> int:
        """How long it waits for this leader (ms)."""
        state = self.replica.state
        assert isinstance(state, FollowerState)
        return state.fetch_timeout

    def sent(self) -> OutboundRequest:
        """The only request that it has sent to its leader; while the leader backs off, other nodes
        are asked for the leader.
        """
        (found,) = [send for send in self.replica.take_outgoing() if send.to.id == self.replica.leader_id]
        return found

    def fetched(self) -> tuple[int, int, int]:
        """Offset, last epoch and current epoch of the fetch that it has sent."""
        body = self.sent().body
        assert isinstance(body, FetchRequest)
        partition = body.topics[0].partitions[0]
        return partition.fetch_offset, partition.last_fetched_epoch, partition.current_leader_epoch

    def answer(self, answer: Any, ms: int = 1) -> None:
        send = self.sent()
        self.now += ms
        self.replica.answered(send.token, answer, self.now)

    def tick(self, ms: int) -> None:
        self.now += ms
        self.replica.tick(self.now)


def response(
    records: bytes = b"",
    *,
    leader: int = 2,
    epoch: int = 4,
    high_watermark: int = -1,
    code: int = 0,
    top: int = 0,
    diverging: tuple[int, int] | None = None,
    snapshot: tuple[int, int] | None = None,
    topic_id: Uuid = Uuid.METADATA_TOPIC_ID,
    endpoints: bool = True,
) -> FetchResponse:
    of = FetchResponse
    data = of.PartitionData(
        error_code=code,
        high_watermark=high_watermark,
        current_leader=of.LeaderIdAndEpoch(leader_id=leader, leader_epoch=epoch),
        diverging_epoch=diverging and of.EpochEndOffset(end_offset=diverging[0], epoch=diverging[1]),
        snapshot_id=snapshot and of.SnapshotId(end_offset=snapshot[0], epoch=snapshot[1]),
        records=records,
    )
    at = endpoint(leader & 0x7F)
    nodes = [of.NodeEndpoint(node_id=leader, host=at.host, port=at.port)] if endpoints and leader >= 0 else []
    topics = [] if top else [of.FetchableTopicResponse(topic_id=topic_id, partitions=[data])]
    return FetchResponse(error_code=top, responses=topics, node_endpoints=nodes)


def batch(first: int = 0, *values: bytes, epoch: int = 4) -> bytes:
    records = [Record(first + at, START, None, value) for at, value in enumerate(values)]
    return bytes(encode_batch(records, base_offset=first, partition_leader_epoch=epoch))
