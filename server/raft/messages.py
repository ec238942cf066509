"""The requests and answers of the quorum as this replica makes them: one topic, one partition, and where the leader is.

Vote, BeginQuorumEpoch and EndQuorumEpoch have the same few fields in classes of their own. An error of the whole request stands at the top,
and then nothing else is there; an error of the partition always comes with the leader and the epoch that this replica knows (KIP-595, KIP-853).
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Protocol

from kafkadouble.messages import error_codes, registry
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.message import Message

if TYPE_CHECKING:
    from .kafka_raft_client import KafkaRaftClient

TOPIC = "__cluster_metadata"
PARTITION = 0
REPLICA_STATE_FROM = 15
NO_LEADER_ID = -1
"""How a leader is named where there is none."""


class InboundRequest(Protocol):
    """What a replica looks at in a request."""

    @property
    def api_key(self) -> int: ...

    @property
    def version(self) -> int: ...

    @property
    def body(self) -> Any: ...


class RequestRefused(Exception):
    """The whole request is answered with this error, and nothing else."""

    def __init__(self, code: int) -> None:
        super().__init__(error_codes.name(code))
        self.code = code


def downgraded(body: Message, version: int) -> Message:
    """A request of ours as this version can carry it: before version 15, who fetches stood elsewhere."""
    if not isinstance(body, FetchRequest) or version >= REPLICA_STATE_FROM or body.replica_state is None:
        return body
    older = copy(body)
    older.replica_id, older._replica_state = body.replica_state.replica_id, None
    return older


def check_cluster(replica: KafkaRaftClient, cluster_id: str | None) -> None:
    """Who names no cluster may belong to any."""
    if cluster_id is not None and cluster_id != replica.cluster_id:
        raise RequestRefused(error_codes.INCONSISTENT_CLUSTER_ID)


def sole_partition(body: Any) -> Any:
    """The one partition that such a request is about. INVALID_REQUEST for any other."""
    topics = body.topics
    if len(topics) != 1 or topics[0].topic_name != TOPIC or len(topics[0].partitions) != 1:
        raise RequestRefused(error_codes.INVALID_REQUEST)
    partition = topics[0].partitions[0]
    if partition.partition_index != PARTITION:
        raise RequestRefused(error_codes.INVALID_REQUEST)
    return partition


def request_of(api_key: int, cluster_id: str | None, **fields: Any) -> Any:
    """A request about the one partition, with these fields of it."""
    of: Any = registry.api(api_key).request
    partition = of.PartitionData(partition_index=PARTITION, **fields)
    return of(cluster_id=cluster_id, topics=[of.TopicData(topic_name=TOPIC, partitions=[partition])])


def leader_request_of(replica: KafkaRaftClient, api_key: int, **fields: Any) -> Any:
    """The same by who leads, or has led until now: who and where that is."""
    body = request_of(api_key, replica.cluster_id, leader_id=replica.key.id, leader_epoch=replica.epoch, **fields)
    of = type(body)
    body.leader_endpoints = [
        of.LeaderEndpoint(name=name, host=at.host, port=at.port) for name, at in replica.endpoints.items()
    ]
    return body


def response_of(replica: KafkaRaftClient, api_key: int, version: int, code: int, **fields: Any) -> Message:
    """About the one partition: an error or none, and what this replica knows of the leader."""
    of: Any = registry.api(api_key).response
    state = replica.state
    leader = NO_LEADER_ID if state.leader_id is None else state.leader_id
    partition = of.PartitionData(
        partition_index=PARTITION, error_code=code, leader_id=leader, leader_epoch=state.epoch, **fields
    )
    response = of(topics=[of.TopicData(topic_name=TOPIC, partitions=[partition])])
    if version >= 1:
        response.node_endpoints = node_endpoints(replica, of)
    found: Message = response
    return found


def error_response_of(api_key: int, code: int) -> Message:
    """An error of the whole request."""
    of: Any = registry.api(api_key).response
    found: Message = of(error_code=code)
    return found


def node_endpoints(replica: KafkaRaftClient, of: Any) -> list[Any]:
    """Where the leader is reached; nothing when that is not known."""
    state = replica.state
    at = None if state.leader_id is None else replica.endpoint_of_leader()
    if at is None:
        return []
    return [of.NodeEndpoint(node_id=state.leader_id, host=at.host, port=at.port)]


def sole_response_partition(body: Any) -> Any | None:
    """The one partition of an answer; None when it is about something else."""
    try:
        partition = sole_partition(body)
    except RequestRefused:
        return None
    return partition
