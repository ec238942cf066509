"""Bytes worked out by hand from the message formats, so that the same mistake cannot be in the
reader, the writer and the expected bytes."""

from __future__ import annotations

from kafkadouble.messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DescribeQuorumRequest,
    FetchRequest,
    FetchResponse,
    HeartbeatRequest,
    LeaderChangeMessage,
    MetadataRequest,
    MetadataResponse,
    OffsetForLeaderEpochRequest,
    ProduceRequest,
    VoteRequest,
)
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid


def check(message: Message, version: int, wire: str) -> None:
    """The message is written as these bytes, and the bytes are read as the message."""
    data = bytes.fromhex(wire)
    assert message.encode(version).hex(" ") == data.hex(" ")
    assert type(message).decode(data, version) == message


def test_api_versions() -> None:
    check(ApiVersionsRequest(), 0, "")
    check(
        ApiVersionsRequest(client_software_name="librdkafka", client_software_version="2.0"),
        3,
        "0b" + b"librdkafka".hex() + "04 322e30 00",
    )
    keys = [ApiVersionsResponse.ApiVersion(api_key=ApiKeys.API_VERSIONS, min_version=0, max_version=4)]
    check(ApiVersionsResponse(error_code=35, api_keys=keys), 0, "0023 00000001 0012 0000 0004")
    check(ApiVersionsResponse(api_keys=keys), 3, "0000 02 0012 0000 0004 00 00000000 00")
    with_features = ApiVersionsResponse(
        api_keys=keys,
        supported_features=[
            ApiVersionsResponse.SupportedFeatureKey(name="kraft.version", min_version=0, max_version=1)
        ],
        finalized_features_epoch=77,
        zk_migration_ready=True,
    )
    feature = "02 0e" + b"kraft.version".hex() + "0000 0001 00"
    check(
        with_features,
        3,
        "0000 02 0012 0000 0004 00 00000000 03" + "00 14" + feature + "01 08 000000000000004d" + "03 01 01",
    )


def test_metadata() -> None:
    check(MetadataRequest(topics=None), 1, "ffffffff")
    check(MetadataRequest(topics=[]), 0, "00000000")
    topic = MetadataRequest.MetadataRequestTopic
    check(MetadataRequest(topics=[topic(name="a")], allow_auto_topic_creation=False), 4, "00000001 0001 61 00")
    by_id = topic(name=None, topic_id=Uuid(bytes(range(16))))
    check(
        MetadataRequest(topics=[by_id], allow_auto_topic_creation=True),
        12,
        "02 000102030405060708090a0b0c0d0e0f 00 00 01 00 00",
    )
    broker = MetadataResponse.MetadataResponseBroker(node_id=1, host="h", port=9092)
    partition = MetadataResponse.MetadataResponsePartition(
        partition_index=0, leader_id=1, leader_epoch=4, replica_nodes=(1,), isr_nodes=(1,)
    )
    full = MetadataResponse(
        brokers=[broker],
        cluster_id="c",
        controller_id=1,
        topics=[MetadataResponse.MetadataResponseTopic(name="t", partitions=[partition])],
    )
    head = "00000000 02 00000001 02 68 00002384 00 00 02 63 00000001"
    one = "0000 00000000 00000001 00000004 02 00000001 02 00000001 01 00"
    check(full, 9, head + "02 0000 02 74 00 02" + one + "80000000 00 80000000 00")


def test_fetch() -> None:
    partition = FetchRequest.FetchPartition(partition=2, fetch_offset=5, partition_max_bytes=1024)
    request = FetchRequest(
        max_wait_ms=500, min_bytes=1, topics=[FetchRequest.FetchTopic(topic="t", partitions=[partition])]
    )
    head = "ffffffff 000001f4 00000001 7fffffff 00"
    check(request, 4, head + "00000001 0001 74 00000001 00000002 0000000000000005 00000400")
    one = "00000002 ffffffff 0000000000000005 ffffffff ffffffffffffffff 00000400 00"
    check(request, 12, head + "00000000 ffffffff 02 02 74 02" + one + "00 01 01 00")
    replica = FetchRequest(cluster_id="c", replica_state=FetchRequest.ReplicaState(replica_id=3, replica_epoch=7))
    tags = "02 00 02 02 63 01 0d 00000003 0000000000000007 00"
    check(replica, 15, "00000000 00000000 7fffffff 00 00000000 ffffffff 01 01 01" + tags)


def test_fetch_response_with_a_diverging_epoch() -> None:
    data = FetchResponse.PartitionData(
        partition_index=1,
        high_watermark=9,
        aborted_transactions=None,
        records=b"abc",
        diverging_epoch=FetchResponse.EpochEndOffset(epoch=2, end_offset=5),
    )
    response = FetchResponse(
        session_id=7, responses=[FetchResponse.FetchableTopicResponse(topic="t", partitions=[data])]
    )
    fixed = "00000001 0000 0000000000000009 ffffffffffffffff ffffffffffffffff 00 ffffffff 04 616263"
    tags = "01 00 0d 00000002 0000000000000005 00"
    check(response, 12, "00000000 0000 00000007 02 02 74 02" + fixed + tags + "00 00")


def test_produce() -> None:
    data = ProduceRequest.PartitionProduceData(index=0, records=b"\x01\x02")
    request = ProduceRequest(
        acks=-1, timeout_ms=1000, topic_data=[ProduceRequest.TopicProduceData(name="t", partition_data=[data])]
    )
    check(request, 3, "ffff ffff 000003e8 00000001 0001 74 00000001 00000000 00000002 0102")
    check(request, 9, "00 ffff 000003e8 02 02 74 02 00000000 03 0102 00 00 00")


def test_groups_and_quorum() -> None:
    check(HeartbeatRequest(group_id="g", generation_id=3, member_id="m"), 0, "0001 67 00000003 0001 6d")
    check(HeartbeatRequest(group_id="g", generation_id=3, member_id="m"), 4, "02 67 00000003 02 6d 00 00")
    epoch = OffsetForLeaderEpochRequest.OffsetForLeaderPartition(partition=1, current_leader_epoch=4, leader_epoch=3)
    topic = OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic="t", partitions=[epoch])
    check(
        OffsetForLeaderEpochRequest(replica_id=-2, topics=[topic]),
        3,
        "fffffffe 00000001 0001 74 00000001 00000001 00000004 00000003",
    )
    check(
        OffsetForLeaderEpochRequest(replica_id=-2, topics=[topic]),
        4,
        "fffffffe 02 02 74 02 00000001 00000004 00000003 00 00 00",
    )
    requested = DescribeQuorumRequest.TopicData(
        topic_name="t", partitions=[DescribeQuorumRequest.PartitionData(partition_index=0)]
    )
    check(DescribeQuorumRequest(topics=[requested]), 0, "02 02 74 02 00000000 00 00 00")
    vote = VoteRequest.PartitionData(
        partition_index=0, replica_epoch=5, replica_id=1, last_offset_epoch=4, last_offset=10
    )
    request = VoteRequest(cluster_id="c", topics=[VoteRequest.TopicData(topic_name="t", partitions=[vote])])
    check(request, 0, "02 63 02 02 74 02 00000000 00000005 00000001 00000004 000000000000000a 00 00 00")


def test_a_control_record() -> None:
    message = LeaderChangeMessage(leader_id=1, voters=[LeaderChangeMessage.Voter(voter_id=1)])
    check(message, 0, "0000 00000001 02 00000001 00 01 00")
