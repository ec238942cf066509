"""DescribeQuorum: the voters and observers, and their log end offsets, as the leader sees them
(KIP-595, KIP-836, KIP-853).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..requests.slices import begun
from ..requests.waiting import OTHERS_FIRST, Slices, Wait, sliced
from .leader_state import LeaderState, ReplicaState
from .messages import PARTITION, TOPIC, InboundRequest

if TYPE_CHECKING:
    from .raft_replica import RaftReplica

DIRECTORY_IDS_FROM = 2
"""The first version with directory ids and endpoints."""

_Partition = DescribeQuorumResponse.PartitionData


def handle_describe_quorum_request(replica: RaftReplica, request: InboundRequest) -> Message | Wait[Message]:
    """Only the leader knows; every other replica answers with an error."""
    body: DescribeQuorumRequest = request.body
    topics = body.topics
    if not (
        len(topics) == 1
        and topics[0].topic_name == TOPIC
        and [each.partition_index for each in topics[0].partitions] == [PARTITION]
    ):
        return _each_unknown(body)
    state = replica.state
    if not isinstance(state, LeaderState):
        return _answer(_refused(error_codes.NOT_LEADER_OR_FOLLOWER), [])
    nodes = _nodes(replica) if request.version >= DIRECTORY_IDS_FROM else []
    return _answer(_described(replica, state, request.version), nodes)


@begun
def _each_unknown(body: DescribeQuorumRequest) -> Wait[Message]:
    topics, slices = [], Slices()
    for topic in body.topics:
        if slices.end():
            yield OTHERS_FIRST
        partitions = yield from sliced(_unknown, topic.partitions, slices)
        topics.append(DescribeQuorumResponse.TopicData(topic_name=topic.topic_name, partitions=partitions))
    return DescribeQuorumResponse(topics=topics)


def _unknown(requested: DescribeQuorumRequest.PartitionData) -> _Partition:
    code = error_codes.UNKNOWN_TOPIC_OR_PARTITION
    message = error_codes.meaning(code)
    return _Partition(partition_index=requested.partition_index, error_code=code, error_message=message)


def _refused(code: int) -> _Partition:
    """Only the error, as in Kafka: not even the leader."""
    return _Partition(partition_index=PARTITION, error_code=code, error_message=error_codes.meaning(code))


def _described(replica: RaftReplica, leader: LeaderState, version: int) -> _Partition:
    leader.forget_observers(replica.now)
    own = leader.voters.get(replica.key.id)
    if own is not None:
        own.last_fetch = own.last_caught_up = replica.now
    return _Partition(
        partition_index=PARTITION,
        leader_id=replica.key.id,
        leader_epoch=leader.epoch,
        high_watermark=-1 if leader.high_watermark is None else leader.high_watermark,
        current_voters=_states(leader.voters.values(), version),
        observers=_states(leader.observers.values(), version),
    )


def _states(states: Iterable[ReplicaState], version: int) -> list[DescribeQuorumResponse.ReplicaState]:
    return [
        DescribeQuorumResponse.ReplicaState(
            replica_id=state.key.id,
            replica_directory_id=state.key.directory_id if version >= DIRECTORY_IDS_FROM else Uuid.ZERO,
            log_end_offset=state.end_offset,
            last_fetch_timestamp=state.last_fetch,
            last_caught_up_timestamp=state.last_caught_up,
        )
        for state in states
    ]


def _nodes(replica: RaftReplica) -> list[DescribeQuorumResponse.Node]:
    of = DescribeQuorumResponse
    return [
        of.Node(
            node_id=voter.id,
            listeners=[of.Listener(name=name, host=at.host, port=at.port) for name, at in voter.endpoints.items()],
        )
        for voter in replica.voters
    ]


def _answer(partition: _Partition, nodes: list[DescribeQuorumResponse.Node]) -> DescribeQuorumResponse:
    of = DescribeQuorumResponse
    return of(topics=[of.TopicData(topic_name=TOPIC, partitions=[partition])], nodes=nodes)
