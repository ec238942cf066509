"""The table of fields behind everything slow, against what the specifications say."""

from __future__ import annotations

from kafkadouble.messages import (
    ConsumerGroupMemberMetadataValue,
    FetchRequest,
    FetchResponse,
    MetadataRequest,
    OffsetFetchRequest,
    RequestHeader,
)
from kafkadouble.messages.fields import FieldInfo, fields_of, message_of
from kafkadouble.messages.uuid import Uuid


def field(cls: type, name: str) -> FieldInfo:
    return next(found for found in fields_of(cls) if found.name == name)


def test_facts_of_a_field() -> None:
    cluster = field(FetchRequest, "cluster_id")
    assert (cluster.kafka_name, cluster.json_name, cluster.type, cluster.array) == (
        "ClusterId",
        "clusterId",
        "string",
        False,
    )
    assert (cluster.versions, cluster.nullable, cluster.tagged, cluster.tag) == (
        (12, 32767),
        (12, 32767),
        (12, 32767),
        0,
    )
    assert (cluster.ignorable, cluster.key, cluster.default, cluster.struct) == (True, False, None, None)
    assert repr(cluster) == "FieldInfo(cluster_id: string, versions 12 to 32767)"
    replica = field(FetchRequest, "replica_id")
    assert (replica.versions, replica.default, replica.tag, replica.tagged) == ((0, 14), -1, None, (0, -1))


def test_versions_of_a_field() -> None:
    cluster, groups = field(FetchRequest, "cluster_id"), field(OffsetFetchRequest, "topics")
    assert [cluster.present(version) for version in (11, 12, 18)] == [False, True, True]
    assert [cluster.is_tagged(version) for version in (11, 12)] == [False, True]
    assert [groups.is_nullable(version) for version in (1, 2, 7, 8)] == [False, True, True, False]
    client = field(RequestHeader, "client_id")
    assert [client.is_compact(version, True) for version in (1, 2)] == [False, False]
    assert field(MetadataRequest, "topics").is_compact(9, True)


def test_structs_and_initial_values() -> None:
    topics, state = field(FetchRequest, "topics"), field(FetchRequest, "replica_state")
    assert topics.struct is FetchRequest.FetchTopic
    assert (topics.array, topics.initial()) == (True, ())
    assert state.initial() == FetchRequest.ReplicaState()
    assert state.initial() is not state.initial()
    assert field(ConsumerGroupMemberMetadataValue, "classic_member_metadata").initial() is not None
    assert field(FetchRequest.FetchTopic, "topic_id").initial() == Uuid.ZERO
    assert field(FetchResponse.PartitionData, "records").initial() is None
    assert message_of(FetchRequest.FetchTopic) is FetchRequest


def test_field_values_that_count_as_the_default() -> None:
    topics, state, records = (
        field(FetchRequest, "topics"),
        field(FetchRequest, "replica_state"),
        field(FetchResponse.PartitionData, "records"),
    )
    assert topics.is_default(())
    assert topics.is_default([])
    assert not topics.is_default(None)
    assert not topics.is_default([1])
    assert state.is_default(FetchRequest.ReplicaState())
    assert not state.is_default(FetchRequest.ReplicaState(replica_id=1))
    assert records.is_default(None)
    assert not records.is_default(b"")
    assert field(FetchRequest, "cluster_id").is_default(None)
    assert not field(FetchRequest, "cluster_id").is_default("")
