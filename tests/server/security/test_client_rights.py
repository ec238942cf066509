"""What brokers allow their clients: rights of the request and of its parts; the bits of authorized
operations; and the nodes of the process, which may do everything."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.create_acls import CreateAclsRequest
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.delete_acls import DeleteAclsRequest
from kafkadouble.messages.generated.describe_cluster import DescribeClusterRequest
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.server.requests.answer import DISCONNECT
from kafkadouble.server.requests.request import Peer
from kafkadouble.server.security.acls import ANY, CLUSTER, OPERATIONS, TOPIC
from kafkadouble.server.security.authorizer import CREATE, DESCRIBE, READ, STANDARD, WRITE
from kafkadouble.server.security.client_rights import ALL_OPERATIONS
from tests.server.harness import Harness

DENIED = error_codes.TOPIC_AUTHORIZATION_FAILED
ALLOW = 3


@pytest.fixture
def cluster() -> Harness:
    """A broker with the topics `mine` and `yours`; ann may do nothing yet."""
    harness = Harness({"authorizer.class.name": STANDARD, "super.users": "User:ANONYMOUS"})
    topic = CreateTopicsRequest.CreatableTopic
    topics = [topic(name=name, num_partitions=1, replication_factor=1) for name in ("mine", "yours")]
    harness.submit(CreateTopicsRequest(topics=topics, timeout_ms=1000), 7)
    return harness


def grant(cluster: Harness, operation: int, name: str = "mine", kind: int = TOPIC) -> None:
    of = CreateAclsRequest.AclCreation
    acl = of(
        resource_type=kind,
        resource_name=name,
        resource_pattern_type=3,
        principal="User:ann",
        host="*",
        operation=operation,
        permission_type=ALLOW,
    )
    cluster.submit(CreateAclsRequest(creations=[acl]), 3)


def as_ann(cluster: Harness, body: Any, version: int) -> Any:
    own, cluster.peer = cluster.peer, Peer(9, "10.0.0.7", 50_001, cluster.node.listeners[0])
    cluster.peer.principal = "User:ann"
    try:
        return cluster.submit(body, version)
    finally:
        cluster.peer = own


def produce(acks: int = 1) -> ProduceRequest:
    of = ProduceRequest
    data = of.PartitionProduceData(index=0, records=b"")
    topics = [of.TopicProduceData(name=name, partition_data=[data]) for name in ("yours", "mine")]
    return of(acks=acks, timeout_ms=1000, topic_data=topics)


def codes(answer: Any) -> dict[str, int]:
    return {response.name: response.partition_responses[0].error_code for response in answer.responses}


def test_partitions_without_a_right_are_refused_and_others_processed(cluster: Harness) -> None:
    assert codes(as_ann(cluster, produce(), 9)) == {"mine": DENIED, "yours": DENIED}
    grant(cluster, WRITE)
    found = codes(as_ann(cluster, produce(), 9))
    assert found["yours"] == DENIED
    assert found["mine"] not in (0, DENIED), "it was looked at: there are no records"


def test_a_refused_part_without_acks_closes_the_connection(cluster: Harness) -> None:
    assert as_ann(cluster, produce(acks=0), 9) is DISCONNECT


def test_new_acl_counts_at_once(cluster: Harness) -> None:
    of = ListOffsetsRequest
    body = of(topics=[of.ListOffsetsTopic(name="mine", partitions=[of.ListOffsetsPartition(timestamp=-1)])])
    assert as_ann(cluster, body, 7).topics[0].partitions[0].error_code == DENIED
    grant(cluster, READ)  # implies DESCRIBE
    assert as_ann(cluster, body, 7).topics[0].partitions[0].error_code == 0


def test_a_fetch_session_asks_again_with_each_fetch(cluster: Harness) -> None:
    of = FetchRequest
    topic = of.FetchTopic(topic="mine", partitions=[of.FetchPartition(partition_max_bytes=100)])
    first = as_ann(cluster, of(session_epoch=0, topics=[topic], max_bytes=100), 12)
    assert first.responses[0].partitions[0].error_code == DENIED
    grant(cluster, READ)
    second = as_ann(cluster, of(session_id=first.session_id, session_epoch=1, topics=[], max_bytes=100), 12)
    assert second.responses[0].partitions[0].error_code == 0


def test_operations_are_those_that_the_client_may_do(cluster: Harness) -> None:
    grant(cluster, WRITE)
    body = MetadataRequest(topics=None, include_topic_authorized_operations=True)
    (topic,) = as_ann(cluster, body, 12).topics
    assert (topic.name, topic.topic_authorized_operations) == ("mine", 1 << WRITE | 1 << DESCRIBE)
    assert {topic.topic_authorized_operations for topic in cluster.submit(body, 12).topics} == {ALL_OPERATIONS[TOPIC]}


def test_the_operations_on_the_cluster_are_hidden_from_a_client_that_may_not_describe_it(cluster: Harness) -> None:
    body = DescribeClusterRequest(include_cluster_authorized_operations=True)
    assert as_ann(cluster, body, 1).cluster_authorized_operations == 0
    grant(cluster, OPERATIONS.index("ALL"), "kafka-cluster", CLUSTER)
    assert as_ann(cluster, body, 1).cluster_authorized_operations == ALL_OPERATIONS[CLUSTER]


def test_a_node_of_the_process_may_do_everything(cluster: Harness) -> None:
    peer = Peer(9, "10.0.0.7", 50_001, cluster.node.listeners[0])
    peer.principal, peer.is_in_process = "User:ann", True
    cluster.peer = peer
    assert DENIED not in codes(cluster.submit(produce(), 9)).values()


def test_a_right_that_is_taken_away_ends_the_reading_of_a_session(cluster: Harness) -> None:
    grant(cluster, READ)
    of = FetchRequest
    topic = of.FetchTopic(topic="mine", partitions=[of.FetchPartition(partition_max_bytes=100)])
    first = as_ann(cluster, of(session_epoch=0, topics=[topic], max_bytes=100), 12)
    assert first.responses[0].partitions[0].error_code == 0
    acl = DeleteAclsRequest.DeleteAclsFilter(
        resource_type_filter=TOPIC,
        resource_name_filter=None,
        pattern_type_filter=ANY,
        principal_filter=None,
        host_filter=None,
        operation=ANY,
        permission_type=ANY,
    )
    cluster.submit(DeleteAclsRequest(filters=[acl]), 3)
    second = as_ann(cluster, of(session_id=first.session_id, session_epoch=1, topics=[], max_bytes=100), 12)
    assert second.responses[0].partitions[0].error_code == DENIED


def test_a_topic_is_auto_created_only_with_the_right(cluster: Harness) -> None:
    for operation in (DESCRIBE, CREATE):
        body = MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name="new")])
        assert [topic.error_code for topic in as_ann(cluster, body, 9).topics] == [DENIED]
        assert "new" not in cluster.node.image.topic_ids
        grant(cluster, operation, "new")
    as_ann(cluster, body, 9)
    assert "new" in cluster.node.image.topic_ids
