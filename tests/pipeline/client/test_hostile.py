"""Meaningless or harmful responses: the client reports them soon, as one of its own errors, and in
little memory."""

from __future__ import annotations

import os
import random
import socket
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafkadouble.messages import headers
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorResponse
from kafkadouble.messages.generated.init_producer_id import InitProducerIdResponse
from kafkadouble.messages.generated.list_offsets import ListOffsetsResponse
from kafkadouble.messages.generated.offset_commit import OffsetCommitResponse
from kafkadouble.messages.generated.offset_for_leader_epoch import OffsetForLeaderEpochResponse
from kafkadouble.messages.generated.produce import ProduceResponse
from kafkadouble.messages.headers import RequestHead
from kafkadouble.messages.message import Message
from kafkadouble.pipeline.client import Client, ClientError, OffsetAndEpoch, TopicPartition
from kafkadouble.wire.errors import WireError
from tests.support.pipeline_client import batch, client_of, read

from .fake_broker import TOPIC_ID, Answer, FakeBroker, Handler, metadata

T0 = TopicPartition("t", 0)
SEED = int(os.environ.get("KAFKADOUBLE_FUZZ_SEED", "20261122"))
CASES = int(os.environ.get("KAFKADOUBLE_FUZZ_FRAMES", "0")) // 100 or 300


ASKING: dict[int, Callable[[Client], object]] = {
    ApiKeys.METADATA: lambda client: client.topics(),
    ApiKeys.LIST_OFFSETS: lambda client: client.offsets({T0: -1}),
    ApiKeys.OFFSET_FOR_LEADER_EPOCH: lambda client: client.ends_of_epochs({T0: 0}),
    ApiKeys.FETCH: lambda client: read(client, T0, 0, 2),
    ApiKeys.INIT_PRODUCER_ID: lambda client: client.producer().send({T0: [batch(b"a")]}),
    ApiKeys.PRODUCE: lambda client: client.producer().send({T0: [batch(b"a")]}),
    ApiKeys.FIND_COORDINATOR: lambda client: client.commit("g", {T0: OffsetAndEpoch(1, 0)}),
    ApiKeys.OFFSET_COMMIT: lambda client: client.commit("g", {T0: OffsetAndEpoch(1, 0)}),
}
"""A call of the client that sends the request, for each API."""


def answers(broker: FakeBroker) -> dict[int, Callable[[int], Message]]:
    """A correct response of each API, as a function of the version."""

    def fetch(version: int) -> Message:
        partition = FetchResponse.PartitionData(
            high_watermark=2, last_stable_offset=2, log_start_offset=0, records=batch(b"a", b"b")
        )
        topic = FetchResponse.FetchableTopicResponse(topic="t", topic_id=TOPIC_ID, partitions=[partition])
        return FetchResponse(responses=[topic])

    def list_offsets(version: int) -> Message:
        partition = ListOffsetsResponse.ListOffsetsPartitionResponse(offset=2, leader_epoch=0)
        return ListOffsetsResponse(
            topics=[ListOffsetsResponse.ListOffsetsTopicResponse(name="t", partitions=[partition])]
        )

    def epochs(version: int) -> Message:
        partition = OffsetForLeaderEpochResponse.EpochEndOffset(leader_epoch=0, end_offset=2)
        of = OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult
        return OffsetForLeaderEpochResponse(topics=[of(topic="t", partitions=[partition])])

    def produce(version: int) -> Message:
        partition = ProduceResponse.PartitionProduceResponse(base_offset=2)
        topic = ProduceResponse.TopicProduceResponse(name="t", topic_id=TOPIC_ID, partition_responses=[partition])
        return ProduceResponse(responses=[topic])

    def coordinator(version: int) -> Message:
        of = FindCoordinatorResponse.Coordinator
        return FindCoordinatorResponse(coordinators=[of(key="g", node_id=1, host="127.0.0.1", port=broker.port)])

    def commit(version: int) -> Message:
        partition = OffsetCommitResponse.OffsetCommitResponsePartition()
        return OffsetCommitResponse(
            topics=[OffsetCommitResponse.OffsetCommitResponseTopic(name="t", partitions=[partition])]
        )

    return {
        ApiKeys.METADATA: lambda version: metadata(broker.port),
        ApiKeys.LIST_OFFSETS: list_offsets,
        ApiKeys.OFFSET_FOR_LEADER_EPOCH: epochs,
        ApiKeys.FETCH: fetch,
        ApiKeys.INIT_PRODUCER_ID: lambda version: InitProducerIdResponse(producer_id=1, producer_epoch=0),
        ApiKeys.PRODUCE: produce,
        ApiKeys.FIND_COORDINATOR: coordinator,
        ApiKeys.OFFSET_COMMIT: commit,
    }


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeBroker]:
    """A broker that answers correctly. No host name is looked up: a damaged name must not reach a
    resolver."""
    getaddrinfo = socket.getaddrinfo

    def here(host: str, *more: Any, **options: Any) -> Any:
        if host != "127.0.0.1":
            raise socket.gaierror(-2, "unknown")
        return getaddrinfo(host, *more, **options)

    monkeypatch.setattr(socket, "getaddrinfo", here)
    with FakeBroker({}) as broker:
        right = answers(broker)
        broker.handlers |= {key: _right(make) for key, make in right.items()}
        yield broker


def _right(make: Callable[[int], Message]) -> Handler:
    return lambda body, head: make(head.api_version)


def damaged(make: Callable[[int], Message], rng: random.Random) -> Handler:
    """The correct response, with some bytes damaged."""

    def answer(body: Any, head: RequestHead) -> Answer:
        frame = bytearray(
            b"".join(
                headers.write_response(make(head.api_version), head.correlation_id, head.api_key, head.api_version)
            )
        )
        rng.choice((_flip, _flip, _cut, _lengthen, _noise))(frame, rng)
        frame[:4] = (len(frame) - 4).to_bytes(4, "big")
        return bytes(frame)

    return answer


def _flip(frame: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice((1, 1, 2, 8))):
        frame[rng.randrange(8, len(frame))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))


def _cut(frame: bytearray, rng: random.Random) -> None:
    del frame[rng.randrange(8, len(frame)) :]


def _lengthen(frame: bytearray, rng: random.Random) -> None:
    at = rng.randrange(8, len(frame))
    frame[at:at] = rng.randbytes(rng.choice((1, 4, 100)))


def _noise(frame: bytearray, rng: random.Random) -> None:
    frame[8:] = rng.randbytes(rng.randrange(200))


def test_damaged_answers_end_in_an_error_of_the_client(broker: FakeBroker) -> None:
    right, outcomes = answers(broker), set()
    for case in range(CASES):
        rng = random.Random(f"{SEED} {case}")
        victim = rng.choice(list(ASKING))
        broker.handlers[victim] = damaged(right[victim], rng)
        hasty = {
            "default_api_timeout_ms": 1,
            "delivery_timeout_ms": 1,
            "request_timeout_ms": 300,
            # A pause longer than the time-out, so that no request is retried, however fast the
            # machine is.
            "retry_backoff_ms": 100,
        }
        with client_of(broker.bootstrap, **hasty, retry_backoff_max_ms=100, fetch_max_wait_ms=0) as client:
            try:
                ASKING[victim](client)
                outcomes.add("answer")
            # WireError is allowed: only the reader of a batch decodes its content.
            except (ClientError, WireError) as error:
                outcomes.add(type(error).__name__)
            except Exception as error:
                raise AssertionError(f"case {case} of seed {SEED}: API {victim}") from error
        broker.handlers[victim] = _right(right[victim])
    assert {"answer", "BadAnswer", "TimedOut", "CorruptBatch"} <= outcomes


@pytest.mark.parametrize("size", [-1, 0, 3, (100 << 20) + 1, 2**31 - 1])
def test_a_length_that_cannot_be_is_not_believed(broker: FakeBroker, size: int) -> None:
    broker.handlers[ApiKeys.METADATA] = lambda body, head: size.to_bytes(4, "big", signed=True)
    client = client_of(broker.bootstrap, default_api_timeout_ms=1)
    with client, pytest.raises(ClientError, match=f"sends a frame of {size} bytes"):
        client.topics()


def test_a_length_that_is_not_kept_costs_no_memory(broker: FakeBroker) -> None:
    frame = (100 << 20).to_bytes(4, "big") + b"a few bytes"
    sent: list[bytes | None] = []

    def announce(body: Any, head: RequestHead) -> Answer:
        sent.append(frame)
        return frame if len(sent) == 1 else None

    broker.handlers[ApiKeys.METADATA] = announce
    client = client_of(broker.bootstrap, default_api_timeout_ms=1, request_timeout_ms=100)
    tracemalloc.start()
    try:
        with client, pytest.raises(ClientError, match="gives no answer within"):
            client.topics()
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
