"""ListOffsets: the offset for a timestamp, or for one of the special negative timestamps (KIP-79).

-1 is the end offset that the client may read to, -2 the log start offset, -3 the record with the
largest timestamp (KIP-734, version 7), -4 the local log start offset (KIP-405, version 8), -5 the
end of tiered storage (KIP-1005, version 9), -6 the first offset that is not uploaded yet (version
11). Without tiered storage the local log start offset is the log start offset, and the last two are
-1. A negative timestamp that the version does not have is UNSUPPORTED_VERSION. A timestamp after
the last record gets offset -1 and no error. A partition that occurs twice gets INVALID_REQUEST,
once.

A new leader does not know which high watermark its predecessor has shown to clients. Until its own
high watermark reaches the start offset of its leader epoch, a client that asks for the end, or for
a timestamp that no readable record has, gets OFFSET_NOT_AVAILABLE; below version 5
LEADER_NOT_AVAILABLE (KIP-207). The log start offset and readable records are returned as usual.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from kafkadouble.wire.client_log import ClientLog
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
from ..replica.replication.partition import Partition
from ..requests.named_once import named_once
from ..requests.request import Refusal, Request
from ..requests.slices import counted
from ..requests.waiting import OTHERS_FIRST, SLICE, Slices, Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext
    from ..replica.replication.follower_partition import FollowerPartition

log = ClientLog("kafkadouble.server.handlers")

ANY_OFFSET = (LATEST, EARLIEST, EARLIEST_LOCAL)
"""Timestamps whose offset needs no readable record; the others return readable records only."""

ABOUT_TIERED = (LATEST_TIERED, EARLIEST_PENDING_UPLOAD)
"""Timestamps of tiered storage, which has no offsets here."""

LEADER_EPOCH_FROM, NOT_AVAILABLE_FROM = 4, 5
"""The first version with OFFSET_NOT_AVAILABLE."""

SINCE_VERSION = {
    LATEST: 1,
    EARLIEST: 1,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}

LOOKS = 8
"""Lookups by timestamp in one slice: each may decompress a batch and read all its records."""

CONSUMER, DEBUGGING = -1, -2
"""Replica ids of clients: the second may read from a follower."""

READ_COMMITTED = 1
ISOLATION_LEVELS = (0, READ_COMMITTED)
"""Any other value is UNKNOWN_SERVER_ERROR, because Kafka fails over it."""

RequestPartition = ListOffsetsRequest.ListOffsetsPartition
ResponsePartition = ListOffsetsResponse.ListOffsetsPartitionResponse


def answer(node: HandlerContext, request: Request[ListOffsetsRequest]) -> Wait[ListOffsetsResponse]:
    times_named = yield from counted(
        (topic.name, requested.partition_index) for topic in request.body.topics for requested in topic.partitions
    )
    if request.body.isolation_level not in ISOLATION_LEVELS:
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    topics, slices = [], Slices()
    once = named_once(request.body.topics, attrgetter("name"), attrgetter("partitions"), attrgetter("partition_index"))
    for topic, named in once:
        partitions = []
        if slices.end():
            yield OTHERS_FIRST
        for requested in named:
            if times_named[topic.name, requested.partition_index] > 1:
                partitions.append(_failed(requested, error_codes.INVALID_REQUEST))
            else:
                partitions.append(_look_up(node, request, topic.name, requested))
            if slices.end(1 if requested.timestamp in ANY_OFFSET else SLICE // LOOKS):
                yield OTHERS_FIRST
        topics.append(ListOffsetsResponse.ListOffsetsTopicResponse(name=topic.name, partitions=partitions))
    return ListOffsetsResponse(topics=topics)


def _look_up(
    node: HandlerContext, request: Request[ListOffsetsRequest], topic: str, requested: RequestPartition
) -> ResponsePartition:
    if requested.timestamp < 0 and request.version < SINCE_VERSION.get(requested.timestamp, request.version + 1):
        return _failed(requested, error_codes.UNSUPPORTED_VERSION)
    partition: Partition | FollowerPartition | None = node.partitions.get(topic, requested.partition_index)
    if partition is None and request.body.replica_id == DEBUGGING and node.fetchers is not None:
        partition = node.fetchers.get(topic, requested.partition_index)
    if partition is None:
        return _failed(
            requested, node.partitions.code_of_missing(topic, requested.partition_index, requested.current_leader_epoch)
        )
    if code := partition.check_epoch(requested.current_leader_epoch):
        return _failed(requested, code)
    end = _readable_end(request, partition)
    lags = request.body.replica_id == CONSUMER and partition.lags_behind_epoch
    if lags and requested.timestamp == LATEST:
        return _not_available(request, requested)
    try:
        found = _find(partition, requested.timestamp, end)
    except DiskFailure:  # the node reports it
        return _failed(requested, error_codes.KAFKA_STORAGE_ERROR)
    except WireError as problem:
        log.error("%r cannot be searched: %s", partition, problem)
        return _failed(requested, error_codes.CORRUPT_MESSAGE)
    is_found = requested.timestamp in ANY_OFFSET or 0 <= found.offset < end
    if lags and not is_found and requested.timestamp not in ABOUT_TIERED:
        return _not_available(request, requested)
    if not is_found:
        return _failed(requested, error_codes.NONE)
    return ResponsePartition(
        partition_index=requested.partition_index,
        timestamp=found.timestamp,
        offset=found.offset,
        leader_epoch=found.leader_epoch if request.version >= LEADER_EPOCH_FROM else -1,
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


def _not_available(request: Request[ListOffsetsRequest], requested: RequestPartition) -> ResponsePartition:
    has_code = request.version >= NOT_AVAILABLE_FROM
    return _failed(requested, error_codes.OFFSET_NOT_AVAILABLE if has_code else error_codes.LEADER_NOT_AVAILABLE)


def _failed(requested: RequestPartition, code: int) -> ResponsePartition:
    return ResponsePartition(partition_index=requested.partition_index, error_code=code, timestamp=-1, offset=-1)


def refuse(request: Request[ListOffsetsRequest], code: int, message: str | None) -> ListOffsetsResponse:
    return ListOffsetsResponse(
        topics=[
            ListOffsetsResponse.ListOffsetsTopicResponse(
                name=topic.name, partitions=[_failed(requested, code) for requested in topic.partitions]
            )
            for topic in request.body.topics
        ]
    )
