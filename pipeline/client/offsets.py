"""Offsets by time, and the ends of leader epochs: ListOffsets and OffsetForLeaderEpoch (KIP-79,
KIP-98, KIP-279, KIP-320)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from kafkadouble.messages.generated.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from kafkadouble.wire.errors import UsageError

from .cluster import LeaderAndEpoch
from .connection import BrokerConnection
from .names import OffsetAndEpoch, TopicPartition
from .network import Answered, Network

ISOLATION = {"read_uncommitted": 0, "read_committed": 1}

T = TypeVar("T")


def isolation_level(name: str) -> int:
    """The number of an isolation level. Raises UsageError for an unknown name."""
    if name not in ISOLATION:
        raise UsageError(f"{name!r} is no isolation level: use read_uncommitted or read_committed")
    return ISOLATION[name]


def by_time(
    network: Network, requested: Mapping[TopicPartition, int], isolation: str
) -> dict[TopicPartition, OffsetAndEpoch | None]:
    """The first offset at or after each time; None if no record is that new."""
    level = isolation_level(isolation)

    def send(
        connection: BrokerConnection, leaders: Mapping[TopicPartition, LeaderAndEpoch]
    ) -> Iterator[Answered[OffsetAndEpoch | None]]:
        partition = ListOffsetsRequest.ListOffsetsPartition
        topics = [
            ListOffsetsRequest.ListOffsetsTopic(
                name=name,
                partitions=[
                    partition(partition_index=each.partition, current_leader_epoch=epoch, timestamp=requested[each])
                    for each, (_, epoch) in group
                ],
            )
            for name, group in by_topic(leaders).items()
        ]
        timeout = network.settings.int("request.timeout.ms")
        body = ListOffsetsRequest(replica_id=-1, isolation_level=level, topics=topics, timeout_ms=timeout)
        answer = connection.ask(body, connection.version(ApiKeys.LIST_OFFSETS, lowest=2))
        assert isinstance(answer, ListOffsetsResponse)
        for topic in answer.topics:
            for result in topic.partitions:
                offset = OffsetAndEpoch(result.offset, result.leader_epoch) if result.offset >= 0 else None
                yield TopicPartition(topic.name, result.partition_index), result.error_code, offset

    for each, when in requested.items():
        if when < -2:
            raise UsageError(
                f"offsets of {each}: {when} is not a time: use ms since the epoch, -1 (latest) or -2 (earliest)"
            )
    return network.call_leaders(requested, "offsets", send)


def ends_of_epochs(network: Network, requested: Mapping[TopicPartition, int]) -> dict[TopicPartition, OffsetAndEpoch]:
    """For each requested leader epoch: the largest epoch in the leader's log up to the requested
    epoch, and its end offset; -1 and -1 if the log has no such epoch."""

    def send(
        connection: BrokerConnection, leaders: Mapping[TopicPartition, LeaderAndEpoch]
    ) -> Iterator[Answered[OffsetAndEpoch]]:
        partition = OffsetForLeaderEpochRequest.OffsetForLeaderPartition
        topics = [
            OffsetForLeaderEpochRequest.OffsetForLeaderTopic(
                topic=name,
                partitions=[
                    partition(partition=each.partition, current_leader_epoch=epoch, leader_epoch=requested[each])
                    for each, (_, epoch) in group
                ],
            )
            for name, group in by_topic(leaders).items()
        ]
        body = OffsetForLeaderEpochRequest(replica_id=-1, topics=topics)
        answer = connection.ask(body, connection.version(ApiKeys.OFFSET_FOR_LEADER_EPOCH))
        assert isinstance(answer, OffsetForLeaderEpochResponse)
        for topic in answer.topics:
            for result in topic.partitions:
                end = OffsetAndEpoch(result.end_offset, result.leader_epoch)
                yield TopicPartition(topic.topic, result.partition), result.error_code, end

    return network.call_leaders(requested, "ends of leader epochs", send)


def by_topic(leaders: Mapping[TopicPartition, T]) -> dict[str, list[tuple[TopicPartition, T]]]:
    """The partitions grouped by topic, as in requests."""
    grouped: dict[str, list[tuple[TopicPartition, T]]] = {}
    for partition, value in leaders.items():
        grouped.setdefault(partition.topic, []).append((partition, value))
    return grouped
