"""ListOffsets: the offset at a time, or at one of the places that have negative numbers for times (KIP-79, KIP-734, KIP-405, KIP-1005).

-1 is the end that the asker may read to, -2 the log start, -3 the record with the largest timestamp (from version 7), -4 the start of what is
stored locally (8), -5 the end of what is in tiered storage (9), -6 the first that is not there yet (11). Without tiered storage the local
start is the log start, and the last two are -1. A negative time that the version lacks is UNSUPPORTED_VERSION. A time after the last record is
answered with offset -1 and no error. A partition that is asked for twice is INVALID_REQUEST, once.

A new leader does not know how far its predecessor has told clients that the log is committed. Until
its high watermark has reached the offset at which its epoch begins, a client that asks for the end,
or for a time that no readable record has, gets OFFSET_NOT_AVAILABLE; below version 5
LEADER_NOT_AVAILABLE (KIP-207). The start, and records that can be read, are answered as ever.
"""

from __future__ import annotations

import logging
from collections import Counter
from operator import attrgetter
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from kafkadouble.wire.errors import WireError

from ..log.files.errors import DiskFailure
from ..log.lookup import (
    EARLIEST,
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    TimestampAndOffset,
)
from ..replica.partition import Partition
from ..requests.named_once import named_once
from ..requests.request import Refusal, Request
from ..requests.waiting import OTHERS_FIRST, SLICE, Slices, Wait

if TYPE_CHECKING:
    from ..node import Node
    from ..replica.replication.follower_partition import FollowerPartition

log = logging.getLogger("kafkadouble.server.handlers")

ANY_OFFSET = (LATEST, EARLIEST, EARLIEST_LOCAL)
"""What is told even when nobody can read there yet; of anything else only what the asker can read."""

ABOUT_TIERED = (LATEST_TIERED, EARLIEST_PENDING_UPLOAD)
"""Places in tiered storage: that there are none is known at once."""

NOT_AVAILABLE_FROM = 5
"""The first version that has OFFSET_NOT_AVAILABLE."""

SINCE_VERSION = {
    LATEST: 1,
    EARLIEST: 1,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}

LOOKS = 8
"""So many times are looked for in one slice: each may decompress a batch and read all of its records."""

CONSUMER, DEBUGGING = -1, -2
"""Ids of who is no replica: the second may ask a follower."""

READ_COMMITTED = 1
ISOLATION_LEVELS = (0, READ_COMMITTED)
"""Of any other Kafka breaks, and answers so."""

Asked = ListOffsetsRequest.ListOffsetsPartition
Answered = ListOffsetsResponse.ListOffsetsPartitionResponse


def answer(node: Node, request: Request[ListOffsetsRequest]) -> Wait[ListOffsetsResponse]:
    times_named = Counter(
        (topic.name, asked.partition_index) for topic in request.body.topics for asked in topic.partitions
    )
    if request.body.isolation_level not in ISOLATION_LEVELS:
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    topics, slices = [], Slices()
    once = named_once(request.body.topics, attrgetter("name"), attrgetter("partitions"), attrgetter("partition_index"))
    for topic, named in once:
        partitions = []
        for asked in named:
            if times_named[topic.name, asked.partition_index] > 1:
                partitions.append(_failed(asked, error_codes.INVALID_REQUEST))
                continue
            partitions.append(_look_up(node, request, topic.name, asked))
            if slices.end(1 if asked.timestamp in ANY_OFFSET else SLICE // LOOKS):
                yield OTHERS_FIRST
        topics.append(ListOffsetsResponse.ListOffsetsTopicResponse(name=topic.name, partitions=partitions))
    return ListOffsetsResponse(topics=topics)


def _look_up(node: Node, request: Request[ListOffsetsRequest], topic: str, asked: Asked) -> Answered:
    if asked.timestamp < 0 and request.version < SINCE_VERSION.get(asked.timestamp, request.version + 1):
        return _failed(asked, error_codes.UNSUPPORTED_VERSION)
    partition: Partition | FollowerPartition | None = node.partitions.get(topic, asked.partition_index)
    if partition is None and request.body.replica_id == DEBUGGING and node.fetchers is not None:
        partition = node.fetchers.get(topic, asked.partition_index)
    if partition is None:
        return _failed(asked, node.partitions.code_of_missing(topic, asked.partition_index, asked.current_leader_epoch))
    if code := partition.check_epoch(asked.current_leader_epoch):
        return _failed(asked, code)
    end = _readable_end(request, partition)
    lags = request.body.replica_id == CONSUMER and partition.lags_behind_epoch
    if lags and asked.timestamp == LATEST:
        return _not_available(request, asked)
    try:
        found = _find(partition, asked.timestamp, end)
    except DiskFailure:  # the node tells of it
        return _failed(asked, error_codes.KAFKA_STORAGE_ERROR)
    except WireError as problem:
        log.error("%r cannot be searched: %s", partition, problem)
        return _failed(asked, error_codes.CORRUPT_MESSAGE)
    is_found = asked.timestamp in ANY_OFFSET or 0 <= found.offset < end
    if lags and not is_found and asked.timestamp not in ABOUT_TIERED:
        return _not_available(request, asked)
    if not is_found:
        return _failed(asked, error_codes.NONE)
    return Answered(
        partition_index=asked.partition_index,
        timestamp=found.timestamp,
        offset=found.offset,
        leader_epoch=found.leader_epoch if request.version >= 4 else -1,
    )


def _find(partition: Partition | FollowerPartition, timestamp: int, end: int) -> TimestampAndOffset:
    if timestamp == LATEST:
        return TimestampAndOffset(-1, end, partition.leader_epoch)
    return partition.log.offset_for(timestamp)


def _readable_end(request: Request[ListOffsetsRequest], partition: Partition | FollowerPartition) -> int:
    if request.body.replica_id != CONSUMER:
        return partition.log.log_end_offset
    committed = request.body.isolation_level == READ_COMMITTED
    return partition.log.last_stable_offset if committed else partition.log.high_watermark


def _not_available(request: Request[ListOffsetsRequest], asked: Asked) -> Answered:
    has_code = request.version >= NOT_AVAILABLE_FROM
    return _failed(asked, error_codes.OFFSET_NOT_AVAILABLE if has_code else error_codes.LEADER_NOT_AVAILABLE)


def _failed(asked: Asked, code: int) -> Answered:
    return Answered(partition_index=asked.partition_index, error_code=code, timestamp=-1, offset=-1)


def refuse(request: Request[ListOffsetsRequest], code: int, message: str | None) -> ListOffsetsResponse:
    return ListOffsetsResponse(
        topics=[
            ListOffsetsResponse.ListOffsetsTopicResponse(
                name=topic.name, partitions=[_failed(asked, code) for asked in topic.partitions]
            )
            for topic in request.body.topics
        ]
    )
