"""Builds and checks the requests and responses of the quorum: one topic, one partition, and the
leader (KIP-595, KIP-853).

Vote, BeginQuorumEpoch and EndQuorumEpoch have the same fields in different classes. A top-level
error stands alone; an error of the partition comes with the leader and epoch that this replica
knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, Protocol

from kafkadouble.messages import error_codes, registry
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.message import Message

from .replica_key import ReplicaKey
from .voters import VoterEndpoint

TOPIC = "__cluster_metadata"
PARTITION = 0
REPLICA_STATE_FROM = 15
NO_LEADER_ID = -1
"""The leader id if there is no leader."""


class InboundRequest(Protocol):
    """The fields of a request that a replica reads."""

    @property
    def api_key(self) -> int: ...

    @property
    def version(self) -> int: ...

    @property
    def body(self) -> Any: ...


class DescribedReplica(Protocol):
    """The fields about a replica in its requests and responses."""

    key: ReplicaKey
    cluster_id: str | None

    @property
    def endpoints(self) -> Mapping[str, VoterEndpoint]: ...

    @property
    def epoch(self) -> int: ...

    @property
    def leader_id(self) -> int | None: ...

    def endpoint_of_leader(self) -> VoterEndpoint | None: ...


class RequestRefused(Exception):
    """The whole request gets this error."""

    def __init__(self, code: int) -> None:
        super().__init__(error_codes.name(code))
        self.code = code


def downgraded(body: Message, version: int) -> Message:
    """The request in an older version: before version 15 the replica id was in another field."""
    if not isinstance(body, FetchRequest) or version >= REPLICA_STATE_FROM or body.replica_state is None:
        return body
    older = copy(body)
    older.replica_id, older._replica_state = body.replica_state.replica_id, None
    return older


def check_cluster(replica: DescribedReplica, cluster_id: str | None) -> None:
    """A request without a cluster id is accepted."""
    if cluster_id is not None and cluster_id != replica.cluster_id:
        raise RequestRefused(error_codes.INCONSISTENT_CLUSTER_ID)


def sole_partition(body: Any) -> Any:
    """The only partition of such a request. RequestRefused(INVALID_REQUEST) for any other."""
    topics = body.topics
    if len(topics) != 1 or topics[0].topic_name != TOPIC or len(topics[0].partitions) != 1:
        raise RequestRefused(error_codes.INVALID_REQUEST)
    partition = topics[0].partitions[0]
    if partition.partition_index != PARTITION:
        raise RequestRefused(error_codes.INVALID_REQUEST)
    return partition


def request_of(api_key: int, cluster_id: str | None, **fields: Any) -> Any:
    """A request about the one partition, with these fields."""
    of: Any = registry.api(api_key).request
    partition = of.PartitionData(partition_index=PARTITION, **fields)
    return of(cluster_id=cluster_id, topics=[of.TopicData(topic_name=TOPIC, partitions=[partition])])


def leader_request_of(replica: DescribedReplica, api_key: int, **fields: Any) -> Any:
    """The same from the leader, or the resigned leader, with its id and endpoints."""
    body = request_of(api_key, replica.cluster_id, leader_id=replica.key.id, leader_epoch=replica.epoch, **fields)
    of = type(body)
    body.leader_endpoints = [
        of.LeaderEndpoint(name=name, host=at.host, port=at.port) for name, at in replica.endpoints.items()
    ]
    return body


def response_of(replica: DescribedReplica, api_key: int, version: int, code: int, **fields: Any) -> Message:
    """A response about the one partition: an error or none, and the leader that this replica
    knows.
    """
    of: Any = registry.api(api_key).response
    leader = NO_LEADER_ID if replica.leader_id is None else replica.leader_id
    partition = of.PartitionData(
        partition_index=PARTITION, error_code=code, leader_id=leader, leader_epoch=replica.epoch, **fields
    )
    response = of(topics=[of.TopicData(topic_name=TOPIC, partitions=[partition])])
    if version >= 1:
        response.node_endpoints = node_endpoints(replica, of)
    found: Message = response
    return found


def error_response_of(api_key: int, code: int) -> Message:
    """A response with a top-level error."""
    of: Any = registry.api(api_key).response
    found: Message = of(error_code=code)
    return found


def node_endpoints(replica: DescribedReplica, of: Any) -> list[Any]:
    """The leader's endpoint; empty if it is not known."""
    at = None if replica.leader_id is None else replica.endpoint_of_leader()
    if at is None:
        return []
    return [of.NodeEndpoint(node_id=replica.leader_id, host=at.host, port=at.port)]


def sole_response_partition(body: Any) -> Any | None:
    """The only partition of a response; None for any other."""
    try:
        partition = sole_partition(body)
    except RequestRefused:
        return None
    return partition
