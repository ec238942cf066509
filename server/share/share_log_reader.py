"""Reads record batches for share fetches, in the order of the checks of a Fetch (Kafka:
`ReplicaManagerLogReader`).

A share group reads up to the high watermark, or up to the last stable offset if its isolation level
is read_committed. Only the leader is read from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.wire.client_log import ClientLog

from ..log.files.errors import DiskFailure
from ..log.formats.errors import BadFile
from .fetched_batches import FetchedBatches

if TYPE_CHECKING:
    from .host import ShareHost
    from .share_partition import SharePartition

log = ClientLog("kafkadouble.server.share")

NOTHING = FetchedBatches(b"")


class ShareLogRead(NamedTuple):
    """The data at `fetch_offset`, or the error.

    `available_bytes` is how much could be read there, at most what may be read at once;
    `is_beyond` says that the offset is after the readable end of the log.
    """

    fetch_offset: int
    batches: FetchedBatches = NOTHING
    error_code: int = error_codes.NONE
    available_bytes: int = 0
    is_beyond: bool = False
    log_start_offset: int = -1


def read(
    node: ShareHost, share_partition: SharePartition, max_bytes: int, *, read_committed: bool, at_least_one: bool
) -> ShareLogRead:
    """Reads what a member may acquire next: up to `max_bytes`, or one larger batch."""
    offset = share_partition.records.next_fetch_offset
    topic, index = share_partition.topic, share_partition.key.partition
    partition = node.partitions.get(topic, index)
    if partition is None:
        return ShareLogRead(offset, error_code=node.partitions.code_of_missing(topic, index))
    if partition.offline:
        return ShareLogRead(offset, error_code=error_codes.KAFKA_STORAGE_ERROR)
    start = partition.log.log_start_offset
    if not start <= offset <= partition.log.log_end_offset:
        return ShareLogRead(offset, error_code=error_codes.OFFSET_OUT_OF_RANGE, log_start_offset=start)
    try:
        end = partition.log.last_stable_offset if read_committed else partition.log.high_watermark
        if offset >= end:
            return ShareLogRead(offset, is_beyond=offset > end)
        found = partition.log.read(offset, max_bytes, end, at_least_one=at_least_one)
        aborted = partition.log.aborted_in(offset, found.next_offset) if read_committed else ()
        available = max_bytes if found.next_offset < end else min(max_bytes, len(found.records))
        return ShareLogRead(offset, FetchedBatches(found.records, aborted), available_bytes=available)
    except DiskFailure:  # the node reports it
        return ShareLogRead(offset, error_code=error_codes.KAFKA_STORAGE_ERROR)
    except BadFile as problem:
        log.error("%r cannot be read at offset %d: %s", partition, offset, problem)
        return ShareLogRead(offset, error_code=error_codes.CORRUPT_MESSAGE)
