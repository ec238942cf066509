"""Brokers unlike KafkaDouble: old ones, and brokers that cut off responses, name a preferred read
replica, or throttle."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.api_versions import ApiVersionsResponse
from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.messages.generated.metadata import MetadataResponse
from kafkadouble.messages.generated.offset_for_leader_epoch import OffsetForLeaderEpochResponse
from kafkadouble.messages.generated.produce import ProduceResponse
from kafkadouble.messages.headers import RequestHead
from kafkadouble.pipeline.client import BadAnswer, LogTruncated, OffsetAndEpoch, TopicPartition, Unsupported
from kafkadouble.wire.batch import encode_batch, read_header
from kafkadouble.wire.record import Record
from tests.support.pipeline_client import batch, client_of, read

from .fake_broker import TOPIC_ID, Answer, FakeBroker, Handler, metadata

T0 = TopicPartition("t", 0)

Log = Callable[[Any], dict[str, Any]]


def fetching(answer: Log) -> Handler:
    """A Fetch handler: `answer` returns the fields of the partition's response."""

    def handle(body: Any, head: RequestHead) -> Answer:
        fields = {"high_watermark": 2, "last_stable_offset": 2, "log_start_offset": 0, **answer(body)}
        top = {name: fields.pop(name) for name in ("throttle_time_ms",) if name in fields}
        partition = FetchResponse.PartitionData(**fields)
        topic = FetchResponse.FetchableTopicResponse(topic="t", topic_id=TOPIC_ID, partitions=[partition])
        return FetchResponse(responses=[topic], **top)

    return handle


def record(offset: int, value: bytes, epoch: int = 0) -> bytes:
    made = encode_batch([Record(offset, 1000, None, value)], base_offset=offset, partition_leader_epoch=epoch)
    return bytes(made)


def asked(body: Any) -> Any:
    return body.topics[0].partitions[0]


def test_a_batch_that_is_cut_off_is_requested_in_its_size() -> None:
    whole = record(0, b"v" * 5000)
    with FakeBroker(
        {ApiKeys.FETCH: fetching(lambda body: {"records": whole[: asked(body).partition_max_bytes]})}
    ) as broker:
        with client_of(broker.bootstrap) as client:
            assert read(client, T0, 0, 1, max_bytes=100) == [b"v" * 5000]
        sizes = [asked(body).partition_max_bytes for head, body in broker.seen if head.api_key == ApiKeys.FETCH]
        assert sizes == [100, len(whole)]


def test_a_batch_that_stays_cut_off_is_reported() -> None:
    cut = record(0, b"v" * 5000)[:100]
    broker = FakeBroker({ApiKeys.FETCH: fetching(lambda body: {"records": cut})})
    with (
        broker,
        client_of(broker.bootstrap) as client,
        pytest.raises(BadAnswer, match="t-0: the batch at offset 0 is cut off"),
    ):
        read(client, T0, 0, 1)


def test_batches_before_the_position_are_no_progress() -> None:
    broker = FakeBroker({ApiKeys.FETCH: fetching(lambda body: {"records": record(0, b"v")})})
    with (
        broker,
        client_of(broker.bootstrap) as client,
        pytest.raises(BadAnswer, match="t-0: what was fetched at offset 1 ends before it"),
    ):
        read(client, T0, 1, 2)


def test_aborted_transactions_are_returned() -> None:
    def answer(body: Any) -> dict[str, Any]:
        of = FetchResponse.AbortedTransaction
        return {
            "records": batch(b"a", b"b"),
            "aborted_transactions": [of(producer_id=7, first_offset=1)] * body.isolation_level,
        }

    broker = FakeBroker({ApiKeys.FETCH: fetching(answer)})
    with broker, client_of(broker.bootstrap) as client:
        (committed,) = client.read(T0, 0, 2, isolation="read_committed")
        (anything,) = client.read(T0, 0, 2)
        assert (committed.aborted, anything.aborted) == (((7, 1),), ())
        assert (committed.high_watermark, committed.log_start_offset, committed.last_stable_offset) == (2, 0, 2)


def test_a_nearer_replica_is_read_from_until_it_refuses() -> None:
    """KIP-392: the leader names the replica. The client fetches from the leader again when the
    replica has no such offset."""
    near: list[int] = []

    def by_replica(body: Any) -> dict[str, Any]:
        near.append(asked(body).fetch_offset)
        if asked(body).fetch_offset == 1:
            return {"error_code": error_codes.OFFSET_OUT_OF_RANGE}
        return {"records": record(0, b"near")}

    def by_leader(body: Any) -> dict[str, Any]:
        assert body.rack_id == "here"
        return {"preferred_read_replica": 2} if not near else {"records": record(1, b"leader")}

    with (
        FakeBroker({ApiKeys.FETCH: fetching(by_replica)}) as replica,
        FakeBroker({ApiKeys.FETCH: fetching(by_leader)}) as leader,
    ):
        for each in (leader, replica):
            each.handlers[ApiKeys.METADATA] = lambda body, head: with_another(metadata(leader.port), replica.port)
        with client_of(leader.bootstrap, client_rack="here") as client:
            assert read(client, T0, 0, 2) == [b"near", b"leader"]
    assert near == [0, 1]


def test_a_nearer_replica_that_is_down_is_not_waited_for() -> None:
    asks: list[int] = []

    def by_leader(body: Any) -> dict[str, Any]:
        asks.append(asked(body).fetch_offset)
        return {"preferred_read_replica": 2} if len(asks) == 1 else {"records": record(0, b"leader")}

    with FakeBroker({}) as gone:
        pass
    with (
        FakeBroker({ApiKeys.FETCH: fetching(by_leader)}) as leader,
        client_of(leader.bootstrap, client_rack="here") as client,
    ):
        leader.handlers[ApiKeys.METADATA] = lambda body, head: with_another(metadata(leader.port), gone.port)
        assert read(client, T0, 0, 1) == [b"leader"]


def with_another(answer: MetadataResponse, port: int) -> MetadataResponse:
    """Metadata with a second broker, which has the id 2."""
    answer.brokers = [*answer.brokers, MetadataResponse.MetadataResponseBroker(node_id=2, host="127.0.0.1", port=port)]
    return answer


@pytest.mark.parametrize("end", [1, 2])
def test_a_broker_that_does_not_look_for_divergence_is_queried_about_epochs(end: int) -> None:
    """Fetch 11 has no last fetched epoch. The client must check that the records of epoch 3 still
    exist before it reads from another leader."""

    def epochs(body: Any, head: RequestHead) -> Answer:
        partition = OffsetForLeaderEpochResponse.EpochEndOffset(leader_epoch=3, end_offset=end)
        topic = OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult(topic="t", partitions=[partition])
        return OffsetForLeaderEpochResponse(topics=[topic])

    handlers: dict[int, Handler] = {
        ApiKeys.FETCH: fetching(lambda body: {"records": record(2, b"next", 4)}),
        ApiKeys.OFFSET_FOR_LEADER_EPOCH: epochs,
    }
    broker = FakeBroker(handlers, versions={ApiKeys.FETCH: (4, 11)})
    with broker, client_of(broker.bootstrap) as client:
        if end == 2:
            assert read(client, T0, 2, 3, leader_epoch=3) == [b"next"]
        else:
            with pytest.raises(LogTruncated) as caught:
                read(client, T0, 2, 3, leader_epoch=3)
            assert caught.value.end == OffsetAndEpoch(1, 3)
        assert [
            body.topics[0].partitions[0].leader_epoch
            for head, body in broker.seen
            if head.api_key == ApiKeys.OFFSET_FOR_LEADER_EPOCH
        ] == [3]


def test_a_throttled_client_waits() -> None:
    """KIP-219: the broker answers at once, with a throttle time that the client must wait."""
    times: list[float] = []

    def answer(body: Any) -> dict[str, Any]:
        times.append(time.monotonic())
        return {"records": record(asked(body).fetch_offset, b"v"), "throttle_time_ms": 150}

    broker = FakeBroker({ApiKeys.FETCH: fetching(answer)})
    with broker, client_of(broker.bootstrap) as client:
        assert read(client, T0, 0, 3) == [b"v"] * 3
    assert all(later - before >= 0.149 for before, later in pairwise(times))


def test_a_broker_with_only_an_older_api_versions() -> None:
    """KIP-511: the broker answers in version 0 that it does not support the version, and lists its
    own."""

    def versions(body: Any, head: RequestHead) -> Answer:
        of = ApiVersionsResponse.ApiVersion
        keys = [
            of(api_key=ApiKeys.API_VERSIONS, max_version=2),
            of(api_key=ApiKeys.METADATA, min_version=0, max_version=9),
        ]
        code = error_codes.UNSUPPORTED_VERSION if head.api_version > 2 else 0
        answer = ApiVersionsResponse(error_code=code, api_keys=keys)
        if not code:
            return answer
        return b"".join((_size(head, answer), head.correlation_id.to_bytes(4, "big"), answer.encode(0)))

    def _size(head: RequestHead, answer: ApiVersionsResponse) -> bytes:
        return (4 + len(answer.encode(0))).to_bytes(4, "big")

    broker = FakeBroker({ApiKeys.API_VERSIONS: versions})
    with broker, client_of(broker.bootstrap) as client:
        assert client.topics() == ["t"]
        with pytest.raises(Unsupported, match=r"has no version of ListOffsets from 2 to \d+: it has none"):
            client.offsets({T0: -1})
    assert [(head.api_key, head.api_version) for head, _ in broker.seen[:3]] == [(18, 4), (18, 2), (3, 9)]


def test_versions_that_have_nothing_in_common() -> None:
    with FakeBroker({}, versions={ApiKeys.FETCH: (99, 100)}) as broker:
        client = client_of(broker.bootstrap)
        with client, pytest.raises(Unsupported, match=r"has no version of Fetch from 4 to 1\d: it has 99 to 100"):
            read(client, T0, 0, 1)


def test_epochs_of_leaders_never_go_back() -> None:
    """A broker with stale metadata gives an older epoch: fetches keep the newer one (KIP-320)."""
    epochs = iter((5, 3, 3, 3))
    broker = FakeBroker(
        {
            ApiKeys.METADATA: lambda body, head: metadata(broker.port, epoch=next(epochs)),
            ApiKeys.FETCH: fetching(lambda body: {"records": record(asked(body).fetch_offset, b"v", 5)}),
        }
    )
    with broker, client_of(broker.bootstrap, metadata_max_age_ms=0) as client:
        assert read(client, T0, 0, 1) == read(client, T0, 0, 1) == [b"v"]
        assert [asked(body).current_leader_epoch for head, body in broker.seen if head.api_key == ApiKeys.FETCH] == [
            5,
            5,
        ]
    assert read_header(record(0, b"v", 5)).partition_leader_epoch == 5


def test_the_leader_that_an_error_names_is_queried_next() -> None:
    """KIP-951: the client refreshes no metadata if the response names the leader and its
    address."""
    of = FetchResponse.LeaderIdAndEpoch
    moved = {"error_code": error_codes.NOT_LEADER_OR_FOLLOWER, "current_leader": of(leader_id=2, leader_epoch=1)}
    with FakeBroker({ApiKeys.FETCH: fetching(lambda body: {"records": record(0, b"v")})}) as new:
        with FakeBroker({ApiKeys.FETCH: fetching(lambda body: dict(moved))}) as old:
            old.handlers[ApiKeys.METADATA] = lambda body, head: with_another(metadata(old.port), new.port)
            with client_of(old.bootstrap) as client:
                assert read(client, T0, 0, 1) == [b"v"]
            assert [head.api_key for head, _ in old.seen] == [18, 3, 1]
        assert [head.api_key for head, _ in new.seen] == [18, 1]


def test_a_partition_that_is_answered_twice_counts_once() -> None:
    def produced(body: Any, head: RequestHead) -> Answer:
        partition = ProduceResponse.PartitionProduceResponse(base_offset=5)
        topic = ProduceResponse.TopicProduceResponse(
            name="t", topic_id=TOPIC_ID, partition_responses=[partition, partition]
        )
        return ProduceResponse(responses=[topic])

    with FakeBroker({ApiKeys.PRODUCE: produced}) as broker, client_of(broker.bootstrap) as client:
        assert client.producer(idempotent=False).send({T0: [batch(b"a"), batch(b"b")]}) == {T0: 5}
        assert [head.api_key for head, _ in broker.seen].count(ApiKeys.PRODUCE) == 2
