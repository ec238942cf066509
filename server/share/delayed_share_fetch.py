"""A share fetch that waits until there are enough records for its member (KIP-932).

It takes what its share partitions can deliver: released records, and new ones of the log. It is
complete when that is `min_bytes`, when a log cannot be read, or when its time is up; then it
acquires the records. Every fetch of a group sees the same records, and the first one that acquires
them gets them.

Kafka holds a lock on a share partition from the read to the acquisition. Nothing else runs in
between here, except for long requests that take turns: then a fetch may find that another one was
faster, and acquires what is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.share_fetch import ShareFetchResponse

from ..requests.waiting import OTHERS_FIRST, Slices, Wait, Waiters
from .acquisition import AcquireRequest, ShareAcquireMode
from .host import ShareHost
from .share_log_reader import ShareLogRead, read
from .share_partition import SharePartition

NO_RECORDS = b""

PartitionData = ShareFetchResponse.PartitionData
Fetched = list[tuple[SharePartition, PartitionData]]
"""The data of the share partitions that were read."""


class ShareFetchParams(NamedTuple):
    """The parameters of a share fetch for all partitions. Sizes are in bytes."""

    member_id: str
    max_records: int
    batch_size: int
    mode: ShareAcquireMode
    min_bytes: int
    max_bytes: int
    is_read_committed: bool


class DelayedShareFetch:
    """One share fetch. `lacking_bytes` is what the last attempt lacked, `places` are what it waits
    for."""

    def __init__(self, node: ShareHost, params: ShareFetchParams, partitions: Sequence[SharePartition]) -> None:
        self._node, self._params, self._partitions = node, params, partitions
        self.lacking_bytes = 0

    @property
    def places(self) -> list[Waiters]:
        """The events that wake the fetch: the share partitions, and the logs of those that can
        deliver."""
        places = [each.waiters for each in self._partitions]
        for each in self._partitions:
            led = self._node.partitions.get(each.topic, each.key.partition)
            if led is not None and each.can_acquire():
                places.append(led.waiters)
        return places

    def try_complete(self, *, is_last: bool) -> Wait[Fetched | None]:
        """Acquires records if there are enough, or if this is the last attempt; None if not."""
        slices, reads = Slices(), list[tuple[SharePartition, ShareLogRead]]()
        acquirable = [each for each in self._partitions if each.can_acquire()]
        found, is_enough = 0, False
        for max_bytes, each in zip(self._max_bytes(len(acquirable)), acquirable, strict=True):
            one = read(
                self._node, each, max_bytes, read_committed=self._params.is_read_committed, at_least_one=not found
            )
            reads.append((each, one))
            found += len(one.batches.records)
            is_enough = is_enough or bool(one.error_code) or one.is_beyond
            if slices.end():
                yield OTHERS_FIRST
        available = sum(one.available_bytes for _, one in reads)
        self.lacking_bytes = max(1, self._params.min_bytes - available)
        if is_last or is_enough or (reads and available >= self._params.min_bytes):
            return self._acquired(reads)
        return None

    def _max_bytes(self, count: int) -> list[int]:
        """The bytes that each of `count` partitions may give: equal parts, the first one the rest.

        Kafka gives the rest to a random partition.
        """
        if not count:
            return []
        part, rest = divmod(self._params.max_bytes, count)
        if part:
            return [part + rest] + [part] * (count - 1)
        return [1] * rest + [0] * (count - rest)

    def _acquired(self, reads: Sequence[tuple[SharePartition, ShareLogRead]]) -> Fetched:
        left, found = self._params.max_records, []
        for share_partition, one in reads:
            data = PartitionData(partition_index=share_partition.key.partition, records=NO_RECORDS)
            if one.error_code == error_codes.OFFSET_OUT_OF_RANGE:
                share_partition.move_to_log_start(one.log_start_offset)
            elif one.error_code:
                data.error_code = one.error_code
            else:
                left -= self._acquire(share_partition, one, left, data)
            found.append((share_partition, data))
        return found

    def _acquire(self, share_partition: SharePartition, one: ShareLogRead, left: int, data: PartitionData) -> int:
        """Acquires at most about `left` records; returns their number."""
        params = self._params
        request = AcquireRequest(params.member_id, one.fetch_offset, left, params.batch_size, params.mode)
        acquired = share_partition.acquire(one.batches, request)
        if acquired:
            data.records = one.batches.covering(acquired)
            data.acquired_records = [
                ShareFetchResponse.AcquiredRecords(first_offset=first, last_offset=last, delivery_count=count)
                for first, last, count in acquired
            ]
        return sum(part.record_count for part in acquired)
