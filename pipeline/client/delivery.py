"""Sends one Produce request: a batch for each of several partitions of one leader, by topic id when
the cluster has ids (KIP-516).

This file does not decide about retries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.produce import ProduceRequest, ProduceResponse
from kafkadouble.messages.uuid import ZERO, Uuid
from kafkadouble.wire.batch_walk import read_header
from kafkadouble.wire.errors import UsageError, WireError

from .connection import BrokerConnection
from .errors import ApiError, ClientError, refusal
from .names import TopicPartition

FIRST, LAST_WITH_NAMES = 3, 12


class Delivered(NamedTuple):
    """The result of a partition's batch: an error code, 0 if it was appended, and its offset, -1
    when that is unknown."""

    partition: TopicPartition
    code: int
    offset: int
    message: str | None = None


def deliver(
    connection: BrokerConnection,
    batches: Mapping[TopicPartition, bytearray],
    ids: Mapping[str, Uuid],
    acks: int,
    timeout_ms: int,
) -> list[Delivered]:
    """Sends a batch for each partition, and returns one result for each; `ids` are the topic
    ids."""
    version = connection.version(ApiKeys.PRODUCE, FIRST, LAST_WITH_NAMES if ZERO in ids.values() else 1 << 15)
    connection.send(_request(batches, ids, acks, timeout_ms), version)
    if not acks:
        connection.forget()
        return [Delivered(partition, 0, -1) for partition in batches]
    answer = connection.receive()
    assert isinstance(answer, ProduceResponse)
    names = {topic_id: name for name, topic_id in ids.items()}
    results = [
        Delivered(
            TopicPartition(topic.name or names.get(topic.topic_id, ""), response.index),
            response.error_code,
            response.base_offset,
            response.error_message,
        )
        for topic in answer.responses
        for response in topic.partition_responses
    ]
    return list({result.partition: result for result in results if result.partition in batches}.values())


def _request(
    batches: Mapping[TopicPartition, bytearray], ids: Mapping[str, Uuid], acks: int, timeout_ms: int
) -> ProduceRequest:
    partitions: dict[str, list[ProduceRequest.PartitionProduceData]] = {}
    for partition, batch in batches.items():
        data = ProduceRequest.PartitionProduceData(index=partition.partition, records=batch)
        partitions.setdefault(partition.topic, []).append(data)
    topics = [
        ProduceRequest.TopicProduceData(name=name, topic_id=ids[name], partition_data=each)
        for name, each in partitions.items()
    ]
    return ProduceRequest(acks=acks, timeout_ms=timeout_ms, topic_data=topics)


def checked(batch: bytes | bytearray) -> bytearray:
    """A writable copy, whose offsets begin at 0, as brokers require. Raises UsageError."""
    try:
        header = read_header(batch)
    except WireError as error:
        raise UsageError(f"what is to be sent is no record batch: {error}") from None
    if header.magic != 2 or header.size != len(batch):
        raise UsageError(f"what is to be sent is not one batch of magic 2 of {len(batch)} bytes, but {header!r}")
    made = bytearray(batch)
    made[:8] = bytes(8)
    return made


def refused(result: Delivered) -> ClientError:
    """The error for a batch that is refused permanently."""
    what = f"sending to {result.partition}"
    if result.code == error_codes.MESSAGE_TOO_LARGE:
        return ApiError(what, result.code, "a batch is larger than the topic's max.message.bytes: make smaller ones")
    return refusal(what, result.code, result.message)
