"""Requests are sent with the ids that the target chose."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest
from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kafkadouble.messages.generated.join_group import JoinGroupRequest, JoinGroupResponse
from kafkadouble.messages.generated.metadata import MetadataRequest, MetadataResponse
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.replay.comparison.answer_comparison import AnswerComparison
from kafkadouble.replay.comparison.id_translation import IdTranslation
from kafkadouble.wire.batch import check_crc, encode_batch, read_header
from kafkadouble.wire.record import Record
from tests.support.recorded_sessions import exchange

ONE, OTHER = Uuid(bytes([1] * 16)), Uuid(bytes([2] * 16))


def learned(request: Message, recorded: Message, found: Message, version: int, node: int = 1) -> IdTranslation:
    """The translation after one pair of answers that differ in ids alone."""
    ids = IdTranslation({1: 1, 2: 2})
    made = exchange(request, recorded, version, node=node)
    assert AnswerComparison(ids).differences(made, made.answer(), found) == []
    return ids


def sent(ids: IdTranslation, request: Message, version: int, node: int = 1) -> tuple[Any, bool]:
    return ids.request(exchange(request, None, version, node=node))


def metadata(topic_id: Uuid) -> MetadataResponse:
    topic = MetadataResponse.MetadataResponseTopic(name="orders", topic_id=topic_id)
    return MetadataResponse(topics=[topic])


def fetch(topic_id: Uuid, session_id: int = 0, session_epoch: int = -1) -> FetchRequest:
    topic = FetchRequest.FetchTopic(topic_id=topic_id, partitions=[])
    return FetchRequest(topics=[topic], session_id=session_id, session_epoch=session_epoch)


def test_topic_ids_of_a_replay_are_translated() -> None:
    ids = learned(MetadataRequest(topics=None), metadata(ONE), metadata(OTHER), 12)
    body, is_changed = sent(ids, fetch(ONE), 13)
    assert (body.topics[0].topic_id, is_changed) == (OTHER, True)
    body, is_changed = sent(ids, fetch(OTHER), 13)
    assert (body.topics[0].topic_id, is_changed) == (OTHER, False), "no answer has shown this one"


def test_two_ids_for_one_are_a_difference() -> None:
    ids = learned(MetadataRequest(topics=None), metadata(ONE), metadata(OTHER), 12)
    made = exchange(MetadataRequest(topics=None), metadata(ONE), 12)
    (found,) = AnswerComparison(ids).differences(made, made.answer(), metadata(ONE))
    assert found.path == "topics[0].topicId"


def test_members_and_generations() -> None:
    def joined(member: str, generation: int) -> JoinGroupResponse:
        inner = JoinGroupResponse.JoinGroupResponseMember(member_id=member)
        return JoinGroupResponse(generation_id=generation, leader=member, member_id=member, members=[inner])

    ids = learned(JoinGroupRequest(group_id="g"), joined("a-1", 1), joined("b-2", 5), 5)
    body, _ = sent(ids, HeartbeatRequest(group_id="g", generation_id=2, member_id="a-1"), 3)
    assert (body.member_id, body.generation_id) == ("b-2", 6)


def test_producers_in_batches() -> None:
    recorded, found = (InitProducerIdResponse(producer_id=id, producer_epoch=epoch) for id, epoch in ((7, 0), (9, 4)))
    ids = learned(InitProducerIdRequest(), recorded, found, 4)
    batch = encode_batch([Record(0, 1, b"k", b"v")], producer_id=7, producer_epoch=1, base_sequence=3)
    partition = ProduceRequest.PartitionProduceData(index=0, records=bytes(batch))
    topic = ProduceRequest.TopicProduceData(name="orders", partition_data=[partition])
    body, is_changed = sent(ids, ProduceRequest(topic_data=[topic]), 9)
    records = body.topic_data[0].partition_data[0].records
    header = read_header(records)
    check_crc(records, 0, header)
    assert is_changed
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (9, 5, 3)


def test_fetch_sessions_are_of_one_node() -> None:
    ids = learned(fetch(ONE, 0, 0), FetchResponse(session_id=11), FetchResponse(session_id=12), 12, node=1)
    assert sent(ids, fetch(ONE, 11, 1), 13, node=1)[0].session_id == 12
    assert sent(ids, fetch(ONE, 11, 1), 13, node=2)[0].session_id == 11


def test_a_fetch_that_is_sent_again_moves_its_session() -> None:
    ids = IdTranslation({})
    ids.fetched_again(exchange(fetch(ONE, 11, 3), None, 13))
    assert sent(ids, fetch(ONE, 11, 4), 13)[0].session_epoch == 5
    ids.fetched_again(exchange(fetch(ONE, 0, 0), None, 13))
    assert sent(ids, fetch(ONE, 0, 0), 13)[0].session_epoch == 0


def test_request_without_translated_ids_is_sent_unchanged() -> None:
    """Even bytes that are no batches."""
    partition = ProduceRequest.PartitionProduceData(
        index=0, records=b"no batch at all, but long enough to be read as one, or not"
    )
    request = ProduceRequest(topic_data=[ProduceRequest.TopicProduceData(name="t", partition_data=[partition])])
    body, is_changed = sent(IdTranslation({}), request, 9)
    assert not is_changed
    assert body.topic_data[0].partition_data[0].records == partition.records
