"""One Fetch of one partition: builds the request, and reads the response. Without a fetch session,
by topic id when the cluster has ids (KIP-227, KIP-516).

This file sends nothing and does not decide about retries.
"""

from __future__ import annotations

from itertools import pairwise
from struct import Struct
from typing import NamedTuple

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.uuid import ZERO, Uuid
from kafkadouble.wire.batch_header import LOG_OVERHEAD, BatchHeader
from kafkadouble.wire.batch_walk import read_header
from kafkadouble.wire.errors import WireError

from .connection import BrokerConnection
from .errors import BadAnswer
from .fetch_size import Batches
from .names import Fetched, OffsetAndEpoch, TopicPartition
from .settings import ClientSettings

BY_NAME, EPOCH_CHECKED = 12, 12
"""Versions: the last with names of topics, the first in which a broker detects divergence
itself."""

_LENGTH = Struct(">8xi").unpack_from


class FetchPosition(NamedTuple):
    """The position of a read: `position` follows a record of the leader epoch `last_epoch`."""

    partition: TopicPartition
    topic_id: Uuid
    position: int
    leader_epoch: int
    last_epoch: int
    isolation: int
    max_bytes: int


def version_for(connection: BrokerConnection, topic_id: Uuid) -> int:
    return connection.version(ApiKeys.FETCH, highest=BY_NAME if topic_id == ZERO else 1 << 15)


def request(fetch: FetchPosition, version: int, settings: ClientSettings) -> FetchRequest:
    """The Fetch request for a position."""
    partition = FetchRequest.FetchPartition(
        partition=fetch.partition.partition,
        current_leader_epoch=fetch.leader_epoch,
        fetch_offset=fetch.position,
        last_fetched_epoch=fetch.last_epoch if version >= EPOCH_CHECKED else -1,
        partition_max_bytes=fetch.max_bytes,
    )
    topic = FetchRequest.FetchTopic(topic=fetch.partition.topic, topic_id=fetch.topic_id, partitions=[partition])
    return FetchRequest(
        max_wait_ms=settings.int("fetch.max.wait.ms"),
        # with more than the limit of the partition, the broker would always wait
        min_bytes=min(settings.int("fetch.min.bytes"), fetch.max_bytes),
        max_bytes=fetch.max_bytes,
        isolation_level=fetch.isolation,
        topics=[topic],
        rack_id=settings.text("client.rack") or "",
    )


def partition_of(
    answer: FetchResponse, fetch: FetchPosition, connection: BrokerConnection
) -> FetchResponse.PartitionData:
    """The partition of a response without an error. Raises BadAnswer when it is missing."""
    for topic in answer.responses:
        if topic.topic_id == fetch.topic_id or topic.topic == fetch.partition.topic:
            for partition in topic.partitions:
                if partition.partition_index == fetch.partition.partition:
                    return partition
    raise BadAnswer(f"broker {connection.endpoint}: its answer to Fetch does not contain {fetch.partition}")


def fetched(partition: FetchResponse.PartitionData, fetch: FetchPosition, last: BatchHeader) -> Fetched:
    """The value for the caller; `last` is the last complete batch."""
    aborted = partition.aborted_transactions or ()
    return Fetched(
        memoryview(partition.records or b""),
        fetch.position,
        last.next_offset,
        partition.high_watermark,
        partition.log_start_offset,
        partition.last_stable_offset,
        tuple((each.producer_id, each.first_offset) for each in aborted),
    )


def whole_batches(records: memoryview, fetch: FetchPosition) -> tuple[BatchHeader, Batches] | None:
    """The header of the last complete batch, and the sizes of the complete ones; None without a
    complete batch. Raises BadAnswer for bytes that are no batches."""
    try:
        starts, end = _starts(records)
        if not starts:
            return None
        first, last = read_header(records, 0), read_header(records, starts[-1])
    except WireError as error:
        raise BadAnswer(
            f"{fetch.partition}: what was fetched at offset {fetch.position} is no batch: {error}"
        ) from error
    if last.next_offset <= fetch.position:
        raise BadAnswer(f"{fetch.partition}: what was fetched at offset {fetch.position} ends before it, with {last!r}")
    largest = max(after - start for start, after in pairwise([*starts, end]))
    return last, Batches(len(starts), end, largest, max(last.next_offset - first.base_offset, 1))


def _starts(records: memoryview) -> tuple[list[int], int]:
    """The start of each complete batch, and the end of the last one."""
    starts: list[int] = []
    position = 0
    while position + LOG_OVERHEAD < len(records):
        (length,) = _LENGTH(records, position)
        if length <= 0:
            read_header(records, position)
        if position + LOG_OVERHEAD + length > len(records):
            break
        starts.append(position)
        position += LOG_OVERHEAD + length
    return starts, position


def size_of_first(records: memoryview) -> int:
    """The size that the incomplete first batch announces; 0 when its length is missing, too."""
    return LOG_OVERHEAD + int(_LENGTH(records, 0)[0]) if len(records) >= LOG_OVERHEAD else 0


def divergence(partition: FetchResponse.PartitionData) -> OffsetAndEpoch | None:
    """The offset up to which the broker has the same log; None when it found no divergence."""
    diverging_epoch = partition.diverging_epoch
    return None if diverging_epoch.end_offset < 0 else OffsetAndEpoch(diverging_epoch.end_offset, diverging_epoch.epoch)
