"""The quorum's requests as a test writes them, and one replica to send them to."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages.generated.begin_quorum_epoch import BeginQuorumEpochRequest
from kafkadouble.messages.generated.describe_quorum import DescribeQuorumRequest
from kafkadouble.messages.generated.end_quorum_epoch import EndQuorumEpochRequest
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.generated.vote import VoteRequest, VoteResponse
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.raft.kafka_raft_client import KafkaRaftClient
from kafkadouble.server.raft.leader_state import LeaderState
from kafkadouble.server.raft.replica_key import ReplicaKey
from kafkadouble.server.raft.settings import QuorumSettings

from .quorum import CLUSTER, START, Member, directory, endpoint, static_voters

TOPIC = "__cluster_metadata"
SETTINGS = QuorumSettings(append_linger_ms=0)


def member(id: int = 1, voters: tuple[int, ...] = (1, 2, 3), **extra: Any) -> Member:
    return Member(id, static_voters(voters), extra.pop("settings", SETTINGS), START, **extra)


def vote(
    epoch: int = 1,
    candidate: int = 2,
    last: tuple[int, int] = (0, 0),
    *,
    pre: bool = False,
    voter: int = 1,
    voter_directory: Uuid = Uuid.ZERO,
    directory_id: Uuid | None = None,
    cluster: str | None = CLUSTER,
    topic: str = TOPIC,
    partition: int = 0,
) -> VoteRequest:
    """`last` is the candidate's (end offset, epoch)."""
    data = VoteRequest.PartitionData(
        partition_index=partition,
        replica_epoch=epoch,
        replica_id=candidate,
        replica_directory_id=directory(candidate & 0x7F) if directory_id is None else directory_id,
        voter_directory_id=voter_directory,
        last_offset=last[0],
        last_offset_epoch=last[1],
        pre_vote=pre,
    )
    topics = [VoteRequest.TopicData(topic_name=topic, partitions=[data])]
    return VoteRequest(cluster_id=cluster, voter_id=voter, topics=topics)


def begin(
    leader: int = 2,
    epoch: int = 1,
    *,
    voter: int = 1,
    voter_directory: Uuid = Uuid.ZERO,
    cluster: str | None = CLUSTER,
    listeners: tuple[str, ...] = ("CONTROLLER",),
    topic: str = TOPIC,
    partition: int = 0,
) -> BeginQuorumEpochRequest:
    of = BeginQuorumEpochRequest
    data = of.PartitionData(
        partition_index=partition, voter_directory_id=voter_directory, leader_id=leader, leader_epoch=epoch
    )
    at = endpoint(leader & 0x7F)
    return of(
        cluster_id=cluster,
        voter_id=voter,
        topics=[of.TopicData(topic_name=topic, partitions=[data])],
        leader_endpoints=[of.LeaderEndpoint(name=name, host=at.host, port=at.port) for name in listeners],
    )


def end(
    leader: int = 2,
    epoch: int = 1,
    successors: tuple[int, ...] = (1, 3),
    *,
    cluster: str | None = CLUSTER,
    topic: str = TOPIC,
    partition: int = 0,
) -> EndQuorumEpochRequest:
    of = EndQuorumEpochRequest
    data = of.PartitionData(
        partition_index=partition,
        leader_id=leader,
        leader_epoch=epoch,
        preferred_successors=successors,
        preferred_candidates=[
            of.ReplicaInfo(candidate_id=id, candidate_directory_id=directory(id)) for id in successors
        ],
    )
    at = endpoint(leader & 0x7F)
    return of(
        cluster_id=cluster,
        topics=[of.TopicData(topic_name=topic, partitions=[data])],
        leader_endpoints=[of.LeaderEndpoint(name="CONTROLLER", host=at.host, port=at.port)],
    )


def fetch(
    id: int = 2,
    offset: int = 0,
    last_epoch: int = 0,
    *,
    epoch: int = 1,
    directory_id: Uuid | None = None,
    cluster: str | None = CLUSTER,
    topic: Uuid = Uuid.METADATA_TOPIC_ID,
    partition: int = 0,
    wait: int = 0,
    max_bytes: int = 1 << 20,
    high_watermark: int = 2**63 - 1,
) -> FetchRequest:
    of = FetchRequest
    data = of.FetchPartition(
        partition=partition,
        current_leader_epoch=epoch,
        fetch_offset=offset,
        last_fetched_epoch=last_epoch,
        replica_directory_id=directory(id & 0x7F) if directory_id is None else directory_id,
        high_watermark=high_watermark,
    )
    return of(
        cluster_id=cluster,
        replica_state=of.ReplicaState(replica_id=id),
        max_wait_ms=wait,
        max_bytes=max_bytes,
        session_epoch=-1,
        topics=[of.FetchTopic(topic_id=topic, partitions=[data])],
    )


def describe(topic: str = TOPIC, partition: int = 0) -> DescribeQuorumRequest:
    of = DescribeQuorumRequest
    partitions = [of.PartitionData(partition_index=partition)]
    return of(topics=[of.TopicData(topic_name=topic, partitions=partitions)])


def ask(to: Member, body: Any, version: int | None = None, now: int = START) -> Any:
    """The answer, which must be there at once."""
    response = to.ask(body, body.versions[1] if version is None else version, now)
    assert response, f"{to.replica!r} is still waiting"
    return response[0]


def sole(answer: Any) -> Any:
    assert answer.error_code == 0
    topics = answer.responses if isinstance(answer, FetchResponse) else answer.topics
    assert len(topics) == 1
    assert len(topics[0].partitions) == 1
    return topics[0].partitions[0]


def code(answer: Any) -> int:
    """The error, at the top or of the partition; never both."""
    if answer.error_code:
        assert not (answer.responses if isinstance(answer, FetchResponse) else answer.topics)
        error_code: int = answer.error_code
        return error_code
    error: int = sole(answer).error_code
    return error


def elected(member: Member, now: int = START) -> Member:
    """It leads: every voter votes for it, and none fetches."""
    member.replica.tick(now)
    member.replica.tick(member.replica.next_deadline() or now)
    while not isinstance(member.replica.state, LeaderState):
        for send in member.replica.take_outgoing():
            member.replica.answered(send.token, granted(send.body), member.replica.now)
        assert member.replica.links
    return member


def granted(requested: Any, *, yes: bool = True) -> Any:
    """The answer of a voter."""
    epoch = requested.topics[0].partitions[0].replica_epoch
    of = VoteResponse
    data = of.PartitionData(vote_granted=yes, leader_id=-1, leader_epoch=epoch)
    return of(topics=[of.TopicData(topic_name=TOPIC, partitions=[data])])


def shown(replica: KafkaRaftClient) -> tuple[Any, ...]:
    """Everything of a replica that a request could change for good."""
    return (
        replica.epoch,
        replica.leader_id,
        type(replica.state),
        replica.state.voted,
        replica.log.end,
        replica.log.high_watermark,
        replica.voters,
        replica._store.load(),
    )


def part(replica: KafkaRaftClient) -> type:
    """Its current type; a call, since a type checker assumes that an attribute does not change."""
    return type(replica.state)


def key(id: int, life: int = 0) -> ReplicaKey:
    return ReplicaKey(id, directory(id, life))
