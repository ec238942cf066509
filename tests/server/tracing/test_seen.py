"""What is kept of answers: decoded, bounded, without records and secrets; the parts of a request;
its line and its JSON."""

from __future__ import annotations

import gc
import json
import weakref
from typing import Any

import pytest

from kafkadouble.messages import registry
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest
from kafkadouble.messages.generated.metadata import MetadataRequest, MetadataResponse
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from kafkadouble.messages.generated.produce import ProduceRequest, ProduceResponse
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.requests.request import Peer, Request
from kafkadouble.server.tracing.history import ANSWER_FACTOR, ANSWER_OVERHEAD, History, SeenRequest
from kafkadouble.server.tracing.payload import MOST_COUNTED, MOST_PARTITIONS, Payload
from kafkadouble.server.tracing.seen_line import clock, listed, text_of
from kafkadouble.server.tracing.seen_parts import SeenPart
from kafkadouble.server.tracing.trace import ANSWERED, Trace
from kafkadouble.wire.batch import Record, encode_batch
from kafkadouble.wire.file_slice import FileSlice
from tests.server.config_requests import incremental
from tests.server.harness import NOW
from tests.support.listeners import BROKER

PEER = Peer(1, "127.0.0.1", 5, BROKER)
ORDERS = Uuid(b"0123456789abcdef")


def answered(history: History, body: Message, answer: Message, version: int, size: int = 100) -> SeenRequest:
    assert body.api_key is not None
    trace = Trace(1)
    trace.subscribe(history)
    request = Request(body.api_key, version, 7, "shop", body, PEER, received=NOW, size=40)
    trace.begin(request).end(ANSWERED, NOW + 2, answer, size)
    return list(history)[-1]


def batch(records: int = 1) -> bytes:
    return bytes(encode_batch([Record(i, NOW, None, b"x") for i in range(records)]))


def fetched(records: Any, partitions: int = 1) -> FetchResponse:
    data = [FetchResponse.PartitionData(partition_index=index, records=records) for index in range(partitions)]
    return FetchResponse(responses=[FetchResponse.FetchableTopicResponse(topic_id=ORDERS, partitions=data)])


def metadata() -> MetadataResponse:
    return MetadataResponse(topics=[MetadataResponse.MetadataResponseTopic(name="orders", topic_id=ORDERS)])


def produce(error: int = 0) -> tuple[ProduceRequest, ProduceResponse]:
    data = [ProduceRequest.PartitionProduceData(index=index, records=batch(2)) for index in (0, 1)]
    request = ProduceRequest(acks=1, topic_data=[ProduceRequest.TopicProduceData(name="orders", partition_data=data)])
    parts = [
        ProduceResponse.PartitionProduceResponse(index=index, error_code=error if index else 0) for index in (0, 1)
    ]
    return request, ProduceResponse(
        responses=[ProduceResponse.TopicProduceResponse(name="orders", partition_responses=parts)]
    )


def test_seen_request_has_its_response_and_time() -> None:
    seen = answered(History(), MetadataRequest(topics=None), metadata(), 12, size=60)
    assert (seen.answer.topics[0].name, seen.answer_size, seen.took) == ("orders", 60, 2)


def test_an_answer_in_the_history_keeps_no_records() -> None:
    class Frame(bytearray):
        """What a weak reference can point at."""

    frame = Frame(batch(3) + batch(4))
    gone = weakref.ref(frame)
    answer = fetched(memoryview(frame))
    seen = answered(History(), FetchRequest(), answer, 13)
    assert isinstance(answer.responses[0].partitions[0].records, memoryview), "the answer itself is not changed"
    payload = seen.answer.responses[0].partitions[0].records
    assert (payload.records, len(payload)) == (7, len(frame))
    assert payload.batch.count == 3
    del frame, answer
    gc.collect()
    assert gone() is None


def test_records_are_counted_in_few_batches_of_memory() -> None:
    assert Payload.fetched(memoryview(batch() * MOST_COUNTED)).records == MOST_COUNTED
    assert Payload.fetched(memoryview(batch() * (MOST_COUNTED + 1))).records is None
    assert Payload.fetched(b"\xff" * 100).records is None
    file_slice = FileSlice(0, 0, 1000)
    file_slice.skip(900)
    payload = Payload.fetched(file_slice)
    assert (payload.records, len(payload), payload.batch) == (None, 1000, None)
    assert repr(payload) == "<some records in 1000 bytes>"


def test_a_slice_of_a_file_that_was_sent_is_not_kept() -> None:
    file_slice = FileSlice(0, 0, 1000)
    file_slice.skip(1000)
    answer = fetched(b"", partitions=3)
    answer.responses[0].partitions[1].records = file_slice  # type: ignore[assignment]
    answer.responses = [*answer.responses, FetchResponse.FetchableTopicResponse()]
    kept = answered(History(), FetchRequest(), answer, 13).answer
    assert [len(data.records) for data in kept.responses[0].partitions] == [0, 1000, 0]
    assert isinstance(kept.responses[0].partitions[1].records, Payload)
    assert kept.responses[1] is answer.responses[1]


def test_an_answer_with_very_many_partitions_is_not_kept() -> None:
    assert answered(History(), FetchRequest(), fetched(b"", MOST_PARTITIONS), 13).answer is not None
    assert answered(History(), FetchRequest(), fetched(b"", MOST_PARTITIONS + 1), 13).answer is None


def test_the_oldest_answers_go_and_their_requests_stay() -> None:
    history = History(max_bytes=10 * (1000 * ANSWER_FACTOR + ANSWER_OVERHEAD))
    for _ in range(12):
        answered(history, MetadataRequest(), metadata(), 12, size=1000)
    assert [seen.answer is None for seen in history] == [True, True, *[False] * 10]
    answered(history, MetadataRequest(), metadata(), 12, size=10**9)
    assert [(seen.answer, seen.answer_size) for seen in history][-1] == (None, 10**9)


def test_secrets_are_neither_kept_nor_exported() -> None:
    seen = answered(History(), CreateDelegationTokenRequest(), CreateDelegationTokenResponse(hmac=b"secret"), 3)
    found = seen.to_json()
    assert (seen.answer, found["request"], found["answer"]) == (None, None, None)
    api = registry.api_named("IncrementalAlterConfigs")
    seen = answered(History(), incremental((2, "orders", {"n": "hunter2"})), api.response(), 1)
    assert "hunter2" not in json.dumps(seen.to_json())
    assert seen.parts == (SeenPart(topic="orders"),)


def test_names_of_topics_with_ids() -> None:
    history = History()
    answered(history, FetchRequest(), fetched(b""), 13)
    assert [seen.parts for seen in history] == [(SeenPart(str(ORDERS), 0),)]
    answered(history, MetadataRequest(topics=None), metadata(), 12)
    assert next(iter(history)).parts == (SeenPart("orders", 0),)


def test_seen_request_has_the_error_of_each_partition() -> None:
    seen = answered(History(), *produce(error=6), 9)
    assert seen.parts == (SeenPart("orders", 0), SeenPart("orders", 1, error="NOT_LEADER_OR_FOLLOWER"))


def test_seen_request_has_a_response_error_in_every_partition() -> None:
    answer = registry.api_named("Heartbeat").response()
    answer.error_code = 25  # type: ignore[attr-defined]
    seen = answered(History(), HeartbeatRequest(group_id="g"), answer, 4)
    assert seen.parts == (SeenPart(group="g", error="UNKNOWN_MEMBER_ID"),)


@pytest.mark.parametrize(("key_type", "part"), [(0, SeenPart(group="a")), (1, SeenPart(transactional_id="a"))])
@pytest.mark.parametrize("version", [3, 4])
def test_the_key_of_a_coordinator_has_a_kind(key_type: int, part: SeenPart, version: int) -> None:
    body = FindCoordinatorRequest(key_type=key_type, **({"key": "a"} if version < 4 else {"coordinator_keys": ["a"]}))
    answer = FindCoordinatorResponse(coordinators=[] if version < 4 else [FindCoordinatorResponse.Coordinator(key="a")])
    assert answered(History(), body, answer, version).parts == (part,)


def test_topics_named_only_in_the_response_are_seen() -> None:
    body = OffsetFetchRequest(groups=[OffsetFetchRequest.OffsetFetchRequestGroup(group_id="g", topics=None)])
    partition = OffsetFetchResponse.OffsetFetchResponsePartitions(partition_index=3)
    topic = OffsetFetchResponse.OffsetFetchResponseTopics(name="orders", partitions=[partition])
    group = OffsetFetchResponse.OffsetFetchResponseGroup(group_id="g", topics=[topic])
    seen = answered(History(), body, OffsetFetchResponse(groups=[group]), 8)
    assert SeenPart("orders", 3, "g") in seen.parts


def test_the_line_of_a_request() -> None:
    seen = answered(History(), *produce(error=6), 9)
    size = 2 * len(batch(2))
    assert repr(seen) == (
        f"22:13:20.000 Produce v9 #7 of 'shop' at broker 1, orders-0, orders-1, 4 records in {size} bytes, "
        "answered in 2 ms: NOT_LEADER_OR_FOLLOWER (orders-1)"
    )


def test_a_line_is_short_and_printable() -> None:
    assert text_of("a\nb\x1b") == "a\\nb\\x1b"
    assert len(text_of("x" * 30_000)) == 60
    assert listed(["a", "b", "a", "c", "d", "e"]) == "a, b, c and 2 more"
    assert clock(86_399_999 + 86_400_000) == "23:59:59.999"


def test_a_request_as_json() -> None:
    seen = answered(History(), *produce(error=6), 9)
    found = json.loads(json.dumps(seen.to_json()))
    request, answer = found.pop("request"), found.pop("answer")
    assert request["topicData"][0]["partitionData"][0] == {"index": 0, "records": ""}
    assert answer["responses"][0]["partitionResponses"][1]["errorCode"] == 6
    assert found == {
        "number": 1,
        "time": NOW,
        "took": 2,
        "broker": 1,
        "peer": "127.0.0.1:5",
        "client_id": "shop",
        "principal": "User:ANONYMOUS",
        "api": "Produce",
        "version": 9,
        "correlation_id": 7,
        "outcome": "answered",
        "rules": [],
        "errors": ["NOT_LEADER_OR_FOLLOWER"],
        "parts": [
            {"topic": "orders", "partition": 0},
            {"topic": "orders", "partition": 1, "error": "NOT_LEADER_OR_FOLLOWER"},
        ],
        "size": 40,
        "answer_size": 100,
        "records": 4,
        "record_bytes": 2 * len(batch(2)),
    }


def test_every_api_has_a_line_and_json() -> None:
    """With the defaults of its request and of its answer, in its newest version."""
    history = History()
    shown = set()
    for served in BROKER.apis.values():
        seen = answered(history, served.request(), served.api.response(), served.highest)
        assert f" {served.name} v{served.highest} " in repr(seen)
        json.dumps(seen.to_json())
        shown.add(served.api.key)
    assert {ApiKeys.PRODUCE, ApiKeys.FETCH, ApiKeys.END_TXN} <= shown
