"""Which recorded exchange answers a request."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest, CreateTopicsResponse
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafkadouble.messages.generated.metadata import MetadataRequest, MetadataResponse
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from kafkadouble.messages.generated.produce import ProduceRequest, ProduceResponse
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.replay.recorded.exchange import Exchange
from kafkadouble.replay.recorded.recording import Recording
from kafkadouble.scripted.script import Script
from kafkadouble.wire.batch import encode_batch
from kafkadouble.wire.record import Record
from tests.support.recorded_sessions import exchange

ADDRESSES = {1: ("127.0.0.1", 5001), 4: ("127.0.0.1", 5004)}
ID = Uuid(bytes([7] * 16))


def script(*pairs: tuple[Message, Message | None, int], **given: Any) -> Script:
    """A script of exchanges that followed one another."""
    made: list[Exchange] = []
    for number, (request, answer, version) in enumerate(pairs, 1):
        began, ended = 10 * number, 10 * number + 5
        made.append(exchange(request, answer, version, number=number, began_us=began, ended_us=ended, **given))
    return Script(Recording("", "", tuple(made)), ADDRESSES)


def answered(given: Script, request: Message, version: int, node: int = 1) -> Any:
    assert request.api_key is not None
    return given.answer(request.api_key, version, request, node)[1]


def topics(*names: str) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=name) for name in names])


def described(*names: str) -> MetadataResponse:
    brokers = [MetadataResponse.MetadataResponseBroker(node_id=node, host="far", port=1) for node in ADDRESSES]
    found = [MetadataResponse.MetadataResponseTopic(name=name, topic_id=ID) for name in names]
    return MetadataResponse(brokers=brokers, topics=found)


def names_in(answer: Any) -> list[str]:
    return [topic.name for topic in answer.topics]


def test_the_subject_decides_and_the_order_of_topics_does_not_matter() -> None:
    given = script((topics("a"), described("a"), 12), (topics("a", "b"), described("a", "b"), 12))
    assert names_in(answered(given, topics("b", "a"), 12)) == ["a", "b"]
    assert names_in(answered(given, topics("a"), 12)) == ["a"]
    assert answered(given, topics("c"), 12) is None


def test_scripted_responses_come_in_order_and_the_last_stays() -> None:
    errors = (0, 27, 25)
    request = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
    given = script(*((request, HeartbeatResponse(error_code=code), 3) for code in errors))
    assert [answered(given, request, 3).error_code for _ in range(5)] == [0, 27, 25, 25, 25]


def test_every_broker_answers_alike_where_the_coordinator_is() -> None:
    """In the recording it was asked for too early at one broker, and found at another."""
    request = FindCoordinatorRequest(key="g", key_type=0)
    found = [
        exchange(request, FindCoordinatorResponse(error_code=code, node_id=4), 2, number=number, node=node)
        for number, code, node in ((1, 15, 1), (2, 0, 4))
    ]
    script = Script(Recording("", "", tuple(found)), ADDRESSES)
    assert [answered(script, request, 2, node=1).error_code for _ in range(3)] == [15, 0, 0]


def test_the_nearest_in_the_other_fields_comes_first() -> None:
    def beat(generation: int) -> HeartbeatRequest:
        return HeartbeatRequest(group_id="g", generation_id=generation, member_id="m")

    given = script(*((beat(generation), HeartbeatResponse(error_code=generation), 3) for generation in (1, 2)))
    assert answered(given, beat(2), 3).error_code == 2


def test_scripted_metadata_precedes_the_write_that_follows_it() -> None:
    create = CreateTopicsRequest(topics=[CreateTopicsRequest.CreatableTopic(name="a")])
    result = CreateTopicsResponse(topics=[CreateTopicsResponse.CreatableTopicResult(name="a")])
    missing = MetadataResponse(topics=[MetadataResponse.MetadataResponseTopic(name="a", error_code=3)])
    given = script((topics("a"), missing, 12), (create, result, 5), (topics("a"), described("a"), 12))
    before = [answered(given, topics("a"), 12).topics[0].error_code for _ in range(3)]
    assert answered(given, create, 5).topics[0].name == "a"
    assert (before, answered(given, topics("a"), 12).topics[0].error_code) == ([3, 3, 3], 0)


def test_addresses_are_those_of_the_scripted_double() -> None:
    given = script((topics("a"), described("a"), 12))
    found = {(broker.node_id, broker.host, broker.port) for broker in answered(given, topics("a"), 12).brokers}
    assert found == {(1, "127.0.0.1", 5001), (4, "127.0.0.1", 5004)}


def test_another_version_is_answered_if_the_answer_fits_it() -> None:
    given = script((topics("a"), described("a"), 12))
    assert names_in(answered(given, topics("a"), 9)) == ["a"]
    coordinators = [FindCoordinatorResponse.Coordinator(key="g", node_id=1, host="far", port=1)]
    request = FindCoordinatorRequest(coordinator_keys=["g"])
    given = script((request, FindCoordinatorResponse(coordinators=coordinators), 4))
    assert answered(given, request, 5).coordinators[0].port == 5001
    assert answered(given, FindCoordinatorRequest(key="g"), 3) is None, "version 3 has no list of coordinators"


def produce(*values: bytes, index: int = 0) -> ProduceRequest:
    batch = encode_batch([Record(offset, 1, None, value) for offset, value in enumerate(values)])
    data = ProduceRequest.PartitionProduceData(index=index, records=bytes(batch))
    return ProduceRequest(acks=-1, topic_data=[ProduceRequest.TopicProduceData(name="a", partition_data=[data])])


def produced(base_offset: int, error: int = 0) -> ProduceResponse:
    of = ProduceResponse.PartitionProduceResponse
    partition = of(index=0, base_offset=base_offset, error_code=error)
    return ProduceResponse(responses=[ProduceResponse.TopicProduceResponse(name="a", partition_responses=[partition])])


def base(answer: Any) -> int:
    base_offset: int = answer.responses[0].partition_responses[0].base_offset
    return base_offset


def test_produce_is_answered_however_records_are_divided() -> None:
    given = script((produce(b"1", b"2"), produced(40), 9), (produce(b"3"), produced(42), 9))
    assert base(answered(given, produce(b"1"), 9)) == 40
    assert [each.number for each in given.unasked()] == [1, 2]
    assert base(answered(given, produce(b"2", b"3"), 9)) == 41
    assert given.unasked() == []
    assert answered(given, produce(b"1", index=3), 9) is None


def fetch(offset: int) -> FetchRequest:
    partition = FetchRequest.FetchPartition(partition=0, fetch_offset=offset)
    return FetchRequest(max_wait_ms=500, topics=[FetchRequest.FetchTopic(topic="a", partitions=[partition])])


def fetched(first: int, *values: bytes) -> FetchResponse:
    records = b"".join(
        bytes(encode_batch([Record(offset, 1, None, value)])) for offset, value in enumerate(values, first)
    )
    partition = FetchResponse.PartitionData(partition_index=0, high_watermark=first + len(values), records=records)
    topic = FetchResponse.FetchableTopicResponse(topic="a", partitions=[partition])
    return FetchResponse(session_id=9, responses=[topic])


def records_of(answer: Any) -> bytes:
    return bytes(answer.responses[0].partitions[0].records or b"")


def test_fetch_is_answered_from_any_recorded_offset_after_the_writes() -> None:
    found = fetched(0, b"1", b"2")
    given = script((produce(b"1", b"2"), produced(0), 9), (fetch(0), found, 11))
    assert records_of(answered(given, fetch(0), 11)) == b"", "nothing was written yet"
    answered(given, produce(b"1", b"2"), 9)
    whole = records_of(found)
    assert records_of(answered(given, fetch(0), 11)) == whole
    assert records_of(answered(given, fetch(1), 11)) == whole[len(whole) // 2 :]
    end = answered(given, fetch(2), 11)
    assert (records_of(end), end.session_id, end.responses[0].partitions[0].high_watermark) == (b"", 0, 2)


def test_fetch_by_topic_id_finds_what_was_fetched_by_name() -> None:
    given = script((topics("a"), described("a"), 12), (fetch(0), fetched(0, b"1"), 11))
    request = fetch(0)
    request.topics[0].topic, request.topics[0].topic_id = "", ID
    answer = answered(given, request, 13)
    assert (answer.responses[0].topic_id, bool(records_of(answer))) == (ID, True)


def test_commits_of_other_partitions_are_answered() -> None:
    def commit(group: str, *indexes: int) -> OffsetCommitRequest:
        partitions = [OffsetCommitRequest.OffsetCommitRequestPartition(partition_index=index) for index in indexes]
        topic = OffsetCommitRequest.OffsetCommitRequestTopic(name="a", partitions=partitions)
        return OffsetCommitRequest(group_id=group, topics=[topic])

    of = OffsetCommitResponse.OffsetCommitResponsePartition
    topic = OffsetCommitResponse.OffsetCommitResponseTopic(name="a", partitions=[of(partition_index=0, error_code=22)])
    given = script((commit("g", 0), OffsetCommitResponse(topics=[topic]), 8))
    (answer,) = answered(given, commit("g", 0, 1), 8).topics
    assert [(each.partition_index, each.error_code) for each in answer.partitions] == [(0, 22), (1, 0)]
    assert given.unasked() == []


def test_a_closed_connection_is_recorded_too() -> None:
    given = script((topics("a"), None, 12), outcome="disconnected")
    found, answer = given.answer(ApiKeys.METADATA, 12, topics("a"), 1)
    assert found is not None
    assert (found.outcome, answer) == ("disconnected", None)
