"""Values that do not fit are refused with UsageError, which names the field and the version, and
with no other exception."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kafkadouble.messages import (
    CreateTopicsRequest,
    DeleteTopicsRequest,
    FetchRequest,
    FetchResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    PushTelemetryRequest,
    TopicRecord,
)
from kafkadouble.messages.fields import fields_of
from kafkadouble.messages.message import Message
from kafkadouble.wire.errors import UsageError

from .making import Maker, every_version

SEED = 20261123
FP = FetchRequest.FetchPartition


def fetch(**partition: Any) -> FetchRequest:
    return FetchRequest(topics=[FetchRequest.FetchTopic(topic="a", partitions=[FP(), FP(**partition)])])


P1 = "FetchRequest.topics[0].partitions[1]"
GONE = "FetchRequest.forgotten_topics_data"
CARRIED = "cannot be carried: the field has versions"
Forgotten = FetchRequest.ForgottenTopic


def forgetting(**topic: Any) -> FetchRequest:
    return FetchRequest(forgotten_topics_data=[Forgotten(**topic)])


def producing(records: Any) -> ProduceRequest:
    data = ProduceRequest.PartitionProduceData(records=records)
    return ProduceRequest(topic_data=[ProduceRequest.TopicProduceData(name="t", partition_data=[data])])


CASES: list[tuple[Message, int, str]] = [
    (FetchRequest(max_wait_ms=1 << 31), 12, "FetchRequest.max_wait_ms = 2147483648 does not fit in int32"),
    (FetchRequest(isolation_level=-129), 12, "FetchRequest.isolation_level = -129 does not fit in int8"),
    (FetchRequest(min_bytes="1"), 12, "FetchRequest.min_bytes is a str, not an int32"),
    (FetchRequest(min_bytes=1.0), 12, "FetchRequest.min_bytes is a float, not an int32"),
    (FetchRequest(min_bytes=None), 4, "FetchRequest.min_bytes cannot be None"),
    (FetchRequest(rack_id=b"x"), 12, "FetchRequest.rack_id is a bytes, not a string"),
    (FetchRequest(rack_id=None), 12, "FetchRequest.rack_id cannot be None"),
    (FetchRequest(rack_id="\ud800"), 12, "FetchRequest.rack_id cannot be UTF-8: surrogates not allowed"),
    (FetchRequest(topics=None), 12, "FetchRequest.topics cannot be None"),
    (FetchRequest(topics=iter(())), 12, "FetchRequest.topics is a tuple_iterator, not a sequence"),
    (FetchRequest(topics=["a"]), 12, "FetchRequest.topics[0] is a str, not a FetchTopic"),
    (FetchRequest(topics=[None]), 12, "FetchRequest.topics[0] cannot be None"),
    (fetch(fetch_offset=1 << 63), 12, P1 + ".fetch_offset = 9223372036854775808 does not fit in int64"),
    (fetch(last_fetched_epoch=3), 11, P1 + ".last_fetched_epoch = 3 " + CARRIED + " 12 and up"),
    (FetchRequest(replica_id=1), 15, "FetchRequest.replica_id = 1 " + CARRIED + " 0 to 14"),
    (
        FetchRequest(replica_state=FetchRequest.ReplicaState(replica_id=1)),
        14,
        "FetchRequest.replica_state = ReplicaState(replica_id=1) " + CARRIED + " 15 and up",
    ),
    (forgetting(), 6, GONE + " = [ForgottenTopic()] " + CARRIED + " 7 and up"),
    (forgetting(partitions=[1, 1 << 40]), 12, GONE + "[0].partitions[1] = 1099511627776 does not fit in int32"),
    (forgetting(partitions=["1"] * 200), 12, GONE + "[0].partitions[0] is a str, not an int32"),
    (
        FetchRequest(topics=[FetchRequest.FetchTopic(topic_id=b"short")]),
        13,
        "FetchRequest.topics[0].topic_id has 5 bytes, a uuid has 16",
    ),
    (
        FetchRequest(topics=[FetchRequest.FetchTopic(topic_id="x" * 16)]),
        13,
        "FetchRequest.topics[0].topic_id is a str, not a uuid",
    ),
    (
        MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=None)]),
        9,
        "MetadataRequest.topics[0].name cannot be None",
    ),
    (MetadataRequest(topics=None), 0, "MetadataRequest.topics cannot be None"),
    (
        MetadataRequest(allow_auto_topic_creation="yes"),
        9,
        "MetadataRequest.allow_auto_topic_creation = 'yes' is not a bool",
    ),
    (MetadataRequest(allow_auto_topic_creation=None), 9, "MetadataRequest.allow_auto_topic_creation cannot be None"),
    (MetadataResponse(brokers=5), 9, "MetadataResponse.brokers is a int, not a sequence"),
    (producing("x"), 9, "ProduceRequest.topic_data[0].partition_data[0].records is a str, not bytes"),
    (PushTelemetryRequest(metrics=[1]), 0, "PushTelemetryRequest.metrics is a list, not bytes"),
    (TopicRecord(topic_id=b"x"), 0, "TopicRecord.topic_id has 1 bytes, a uuid has 16"),
    (
        CreateTopicsRequest(topics=[CreateTopicsRequest.CreatableTopic(name="t", configs="abc")]),
        5,
        "CreateTopicsRequest.topics[0].configs is a str, not a sequence",
    ),
    (DeleteTopicsRequest(topic_names="abc"), 5, "DeleteTopicsRequest.topic_names is a str, not a sequence"),
    (FetchRequest(unknown_tagged_fields={9: "x"}), 12, "FetchRequest.unknown_tagged_fields[9] is a str, not bytes"),
    (
        FetchRequest(unknown_tagged_fields={0: b"x"}),
        12,
        "FetchRequest.unknown_tagged_fields: 0 cannot be an unknown tag here",
    ),
    (FetchRequest(unknown_tagged_fields=[1]), 12, "FetchRequest.unknown_tagged_fields is a list, not a dict"),
    (
        FetchRequest(unknown_tagged_fields={9: b""}),
        11,
        "FetchRequest.unknown_tagged_fields cannot be carried: this version has no tags",
    ),
]


@pytest.mark.parametrize(("message", "version", "problem"), CASES, ids=[case[2][:60] for case in CASES])
def test_the_refusal_names_field_and_version(message: Message, version: int, problem: str) -> None:
    for write in (message.encode, message.parts):
        with pytest.raises(UsageError) as caught:
            write(version)
        assert str(caught.value) == f"{problem} (version {version})"


def test_single_wrong_field_value_is_named() -> None:
    """In every message and version, a field with a value of a wrong type is refused, and the error
    names that field."""
    dice = random.Random(SEED)
    for cls, version in every_version():
        message = Maker((SEED, cls.__name__, version), longest=2).message(cls, version)
        fields = [field for field in fields_of(cls) if field.present(version)]
        if not fields:
            continue
        field = dice.choice(fields)
        setattr(message, field.name, object())
        with pytest.raises(UsageError) as caught:
            message.encode(version)
        assert f"{cls.__name__}.{field.name}" in str(caught.value)
        assert f"(version {version})" in str(caught.value)


def test_ignorable_fields_are_left_out_silently() -> None:
    assert FetchResponse(throttle_time_ms=5, error_code=3).encode(4) == FetchResponse(throttle_time_ms=5).encode(4)


def test_omitted_field_is_not_reported() -> None:
    """An ignorable field that the version lacks may hold anything; the error names the field that
    matters."""
    with pytest.raises(UsageError, match=r"FetchResponse.responses is a int, not a sequence \(version 4\)"):
        FetchResponse(error_code="nonsense", responses=5).encode(4)


def test_a_message_that_was_refused_can_be_put_right() -> None:
    request = FetchRequest(min_bytes="1")
    with pytest.raises(UsageError):
        request.encode(12)
    request.min_bytes = 1
    assert FetchRequest.decode(request.encode(12), 12).min_bytes == 1
