"""The dicts of Kafka's own JSON converters: their names, their order, which fields are left out and
which are required."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafkadouble.messages import (
    AddPartitionsToTxnRequest,
    ConsumerGroupHeartbeatResponse,
    DescribeQuorumResponse,
    FetchRequest,
    FetchResponse,
    MetadataRequest,
    ProduceRequest,
    PushTelemetryRequest,
    SaslAuthenticateRequest,
    TopicRecord,
)
from kafkadouble.messages.json_form import completed
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.errors import UsageError

from .making import Maker, every_version

SEED = 20261124


def test_every_message_survives_its_json() -> None:
    for cls, version in every_version():
        sent = Maker((SEED, cls.__name__, version), unknown=0, longest=3).message(cls, version)
        text = json.dumps(sent.to_json(version))
        read = cls.from_json(json.loads(text), version)
        assert read == sent, f"{cls.__name__} version {version}"
        assert read.encode(version) == sent.encode(version)


def test_names_are_camel_case_in_the_order_of_the_specification() -> None:
    assert list(FetchRequest().to_json(4)) == [
        "replicaId",
        "maxWaitMs",
        "minBytes",
        "maxBytes",
        "isolationLevel",
        "topics",
    ]
    assert next(iter(FetchRequest(cluster_id="x").to_json(12))) == "clusterId"


def test_values() -> None:
    record = TopicRecord(name="t", topic_id=Uuid.parse("H3KKO4NTRPaCWtEmm3vW7A"))
    assert record.to_json(0) == {"name": "t", "topicId": "H3KKO4NTRPaCWtEmm3vW7A"}
    assert TopicRecord(topic_id=bytes(16)).to_json(0)["topicId"] == "AAAAAAAAAAAAAAAAAAAAAA"
    assert SaslAuthenticateRequest(auth_bytes=b"\0\xff\xfe").to_json(2) == {"authBytes": "AP/+"}
    assert MetadataRequest(topics=None).to_json(1) == {"topics": None}
    telemetry = PushTelemetryRequest(terminating=True, metrics=memoryview(b"ab")).to_json(0)
    assert (telemetry["terminating"], telemetry["metrics"]) == (True, "YWI=")


def test_records_are_their_bytes() -> None:
    data = ProduceRequest.PartitionProduceData(index=1, records=b"abc")
    request = ProduceRequest(topic_data=[ProduceRequest.TopicProduceData(name="t", partition_data=[data])])
    (topic,) = request.to_json(9)["topicData"]
    assert topic["partitionData"] == [{"index": 1, "records": "YWJj"}]
    assert ProduceRequest.from_json(request.to_json(9), 9) == request


def test_tagged_fields_at_their_defaults_are_left_out() -> None:
    assert "clusterId" not in FetchRequest().to_json(12)
    partition = FetchResponse.PartitionData(diverging_epoch=FetchResponse.EpochEndOffset(epoch=1))
    (topic,) = FetchResponse(responses=[FetchResponse.FetchableTopicResponse(partitions=[partition])]).to_json(12)[
        "responses"
    ]
    assert topic["partitions"][0]["divergingEpoch"] == {"epoch": 1, "endOffset": -1}
    assert "currentLeader" not in topic["partitions"][0]
    assert FetchResponse.from_json(FetchResponse().to_json(16), 16).node_endpoints == ()


def test_structs_that_may_be_null() -> None:
    assert ConsumerGroupHeartbeatResponse().to_json(0)["assignment"] is None
    with_one = ConsumerGroupHeartbeatResponse(assignment=ConsumerGroupHeartbeatResponse.Assignment())
    assert with_one.to_json(0)["assignment"] == {"topicPartitions": []}
    assert ConsumerGroupHeartbeatResponse.from_json(with_one.to_json(0), 0) == with_one


@pytest.mark.parametrize(
    ("message", "version", "problem"),
    [
        (FetchRequest(replica_id=3), 15, "FetchRequest.replica_id is set, which version 15 cannot carry"),
        (MetadataRequest(topics=None), 0, "MetadataRequest.topics cannot be None in version 0"),
        (FetchRequest(), 3, "FetchRequest has no version 3: it has 4 to 18"),
        (FetchRequest(min_bytes="x"), 4, "FetchRequest.min_bytes is a str, not int32"),
        (TopicRecord(topic_id=b"x"), 0, "TopicRecord.topic_id is a bytes, not uuid"),
    ],
)
def test_json_field_unknown_to_the_version_is_refused(message: Message, version: int, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        message.to_json(version)
    assert str(caught.value) == problem


def test_an_ignorable_field_is_left_out() -> None:
    assert "rackId" not in FetchRequest(rack_id="x").to_json(10)


BASE = FetchRequest(topics=[FetchRequest.FetchTopic(topic="t", partitions=[FetchRequest.FetchPartition()])]).to_json(12)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda o: o.pop("maxWaitMs"), "FetchRequest.maxWaitMs is missing, which is mandatory in version 12"),
        (lambda o: o["topics"][0].pop("topic"), "FetchRequest.topics[0].topic is missing, which is mandatory in version 12"),
        (lambda o: o.update(maxWaitMs="1"), "FetchRequest.maxWaitMs = '1' is not int32"),
        (lambda o: o.update(maxWaitMs=True), "FetchRequest.maxWaitMs = True is not int32"),
        (lambda o: o.update(maxWaitMs=1.0), "FetchRequest.maxWaitMs = 1.0 is not int32"),
        (lambda o: o.update(maxWaitMs=None), "FetchRequest.maxWaitMs = None is not int32"),
        (lambda o: o.update(maxWaitMs=1 << 31), "FetchRequest.maxWaitMs = 2147483648 is not int32"),
        (lambda o: o.update(rackId=5), "FetchRequest.rackId = 5 is not string"),
        (lambda o: o.update(rackId=None), "FetchRequest.rackId = None is not string"),
        (lambda o: o.update(topics={}), "FetchRequest.topics is a dict, not a list"),
        (lambda o: o.update(topics=[1]), "FetchRequest.topics[0] is a int, not an object"),
        (lambda o: o["topics"][0].update(topicId="!"), "FetchRequest.topics[0].topicId = '!' is not uuid"),
    ],
)  # fmt: skip
def test_unreadable_json_is_refused(change: Any, problem: str) -> None:
    obj = json.loads(json.dumps(BASE))
    change(obj)
    with pytest.raises(UsageError) as caught:
        FetchRequest.from_json(obj, 12)
    assert str(caught.value) == problem


def test_unknown_json_field_is_ignored_and_early_field_is_set() -> None:
    """As in Kafka's converters, an unknown name is skipped, and a field of another version is
    taken."""
    assert FetchRequest.from_json(BASE | {"nonsense": 1}, 12) == FetchRequest.from_json(BASE, 12)
    state = {"replicaState": {"replicaId": 3, "replicaEpoch": 4}}
    assert FetchRequest.from_json(FetchRequest().to_json(15) | state, 15).replica_state.replica_id == 3
    early = FetchRequest.from_json(FetchRequest().to_json(4) | {"sessionId": 7}, 4)
    assert early.session_id == 7


def test_a_dict_is_completed_with_defaults() -> None:
    given = {"topics": [{"topic": "t", "partitions": [{"partition": 3}]}], "maxBytes": 9}
    request = FetchRequest.from_json(completed(FetchRequest, given, 12), 12)
    partition = FetchRequest.FetchPartition(partition=3)
    topic = FetchRequest.FetchTopic(topic="t", partitions=[partition])
    assert request == FetchRequest(topics=[topic], max_bytes=9)
    with pytest.raises(
        UsageError, match=r"FetchRequest\.topics\[0\]\.partitions\[0\] has no field 'offset'; it has partition"
    ):
        completed(FetchRequest, {"topics": [{"partitions": [{"offset": 3}]}]}, 12)
    with pytest.raises(UsageError, match=r"FetchRequest\.topics is a dict, not a list"):
        completed(FetchRequest, {"topics": {}}, 12)
    with pytest.raises(UsageError, match=r"FetchRequest\.topics\[0\] is a int, not an object"):
        completed(FetchRequest, {"topics": [1]}, 12)


def test_tagged_fields_may_be_missing() -> None:
    assert FetchRequest.from_json(BASE, 12).cluster_id is None


def test_bytes_must_be_base64() -> None:
    for bad in ("=", "a", "****", 5, None):
        with pytest.raises(UsageError, match="is not bytes"):
            SaslAuthenticateRequest.from_json({"authBytes": bad}, 2)


def test_floats_and_arrays_of_numbers() -> None:
    made = PushTelemetryRequest().to_json(0)
    assert made["clientInstanceId"] == "AAAAAAAAAAAAAAAAAAAAAA"
    assert AddPartitionsToTxnRequest().to_json(4) == {"transactions": []}
    assert DescribeQuorumResponse.from_json(DescribeQuorumResponse().to_json(2), 2) == DescribeQuorumResponse()
