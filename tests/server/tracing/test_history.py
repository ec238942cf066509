"""What is kept of requests: decoded, bounded, without records and secrets."""

from __future__ import annotations

import gc
import weakref

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.produce import ProduceRequest, ProduceResponse
from kafkadouble.messages.generated.sasl_authenticate import SaslAuthenticateRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.faults.rule import Rule
from kafkadouble.server.requests.request import Peer, Request
from kafkadouble.server.tracing.history import OVERHEAD, History, errors_in
from kafkadouble.server.tracing.payload import Payload, sasl_request
from kafkadouble.server.tracing.trace import Trace, TracedRequest
from kafkadouble.wire.batch import Record, encode_batch
from tests.server.harness import NOW, Harness
from tests.support.listeners import BROKER

PEER = Peer(1, "127.0.0.1", 5, BROKER)


def request(key: int, body: Message, size: int) -> Request[Message]:
    return Request(key, 3, 1, "c", body, PEER, received=NOW, size=size)


def took(history: History, request: Request[Message]) -> None:
    history.begun(TracedRequest(Trace(1), request))


def produce(records: bytes, partitions: int = 1) -> ProduceRequest:
    parts = [ProduceRequest.PartitionProduceData(index=index, records=records) for index in range(partitions)]
    return ProduceRequest(acks=1, topic_data=[ProduceRequest.TopicProduceData(name="t", partition_data=parts)])


def test_history_is_bounded_by_count() -> None:
    history = History(max_requests=3)
    for correlation in range(10):
        took(
            history,
            Request(ApiKeys.API_VERSIONS, 3, correlation, "c", ApiVersionsRequest(), PEER, received=NOW, size=10),
        )
    assert [seen.correlation_id for seen in history] == [7, 8, 9]


def test_bounded_by_bytes() -> None:
    history = History(max_bytes=10 * (1000 + OVERHEAD))
    for _ in range(25):
        took(history, request(3, MetadataRequest(), 1000))
    assert len(history) == 10
    took(history, request(3, MetadataRequest(), 10**9))
    assert len(history) == 0, "one that is too large by itself is not kept either"
    took(history, request(3, MetadataRequest(), 1000))
    history.clear()
    assert repr(history) == "the latest 0 requests, about 0 bytes"


def test_records_are_not_kept() -> None:
    class Frame(bytearray):
        """What a weak reference can point at."""

    frame = Frame(encode_batch([Record(i, NOW, None, b"x" * 1000) for i in range(50)]))
    gone = weakref.ref(frame)
    body = produce(memoryview(frame))  # type: ignore[arg-type]  # what a decoded request holds
    history = History()
    took(history, request(0, body, len(frame) + 60))
    assert isinstance(body.topic_data[0].partition_data[0].records, memoryview), "the request itself is not changed"
    del frame, body
    gc.collect()
    assert gone() is None
    (seen,) = history
    payload = seen.body.topic_data[0].partition_data[0].records
    assert (payload.records, len(payload) > 50_000) == (50, True)
    assert repr(payload) == f"<50 records in {len(payload)} bytes>"


def test_a_gigabyte_of_records_weighs_little() -> None:
    history = History()
    megabyte = bytes(1024 * 1024)
    for _ in range(1024):
        took(history, request(0, produce(megabyte), len(megabyte) + 60))
    assert len(history) == 1024


def test_a_payload_survives_any_bytes() -> None:
    for data in (None, b"", b"x" * 60, b"\xff" * 61):
        payload = Payload(data)
        assert (len(payload), payload.records) == (len(data or b""), -1 if data and len(data) > 60 else 0)


def test_secrets_are_not_kept() -> None:
    body = SaslAuthenticateRequest(auth_bytes=b"\0user\0password")
    kept, saved = sasl_request(body)
    assert (kept.auth_bytes, saved, body.auth_bytes) == (b"", 14, b"\0user\0password")


def test_history_has_the_outcome_of_a_request() -> None:
    cluster = Harness()
    cluster.create("t")
    history = cluster.node.history
    assert history is not None
    history.clear()
    batch = bytes(encode_batch([Record(0, NOW, None, b"x")]))
    cluster.submit(produce(batch, partitions=2), 9)
    cluster.node.faults.arm(Rule.of(action="disconnect", api="Metadata"))
    cluster.submit(MetadataRequest(topics=None), 12)
    quiet = produce(batch)
    quiet.acks = 0
    cluster.submit(quiet, 9)
    topic = FetchRequest.FetchTopic(topic="t", partitions=[FetchRequest.FetchPartition(fetch_offset=2)])
    cluster.begin(FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=1000, topics=[topic], session_epoch=-1), 12)
    calls = [(seen.api, seen.version, seen.outcome, seen.error, seen.took) for seen in history]
    assert calls == [
        ("Produce", 9, "answered", "UNKNOWN_TOPIC_OR_PARTITION", 0),
        ("Metadata", 12, "disconnected", None, 0),
        ("Produce", 9, "unanswered", None, 0),
        ("Fetch", 12, "waiting", None, None),
    ]
    cluster.tick(500)
    last = list(history)[-1]
    assert (last.outcome, last.took, last.client_id, last.time) == ("answered", 500, "test", NOW)
    assert repr(last) == (
        f"22:13:20.000 Fetch v12 #{last.correlation_id} of 'test' at broker 1, t-0, no records, answered in 500 ms"
    )


def test_history_has_the_errors_of_a_response() -> None:
    def part(code: int) -> ProduceResponse.PartitionProduceResponse:
        return ProduceResponse.PartitionProduceResponse(error_code=code)

    topics = [
        ProduceResponse.TopicProduceResponse(name="a", partition_responses=[part(3), part(0), part(999)]),
        ProduceResponse.TopicProduceResponse(name="b", partition_responses=[part(3), part(-1)]),
    ]
    assert errors_in(ProduceResponse(responses=topics)) == (
        "UNKNOWN_TOPIC_OR_PARTITION",
        "UNKNOWN_CODE_999",
        "UNKNOWN_SERVER_ERROR",
    )
    assert errors_in(ProduceResponse()) == ()
