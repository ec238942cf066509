"""Chooses the size of a Fetch: about as many bytes as the rest of the range takes.

Rules. The size of the last batches predicts that of the next ones. Before the first batch of a
partition, a Fetch asks for `FIRST_BYTES`. A broker always sends the first batch completely, so a
size that is too small costs one more round trip, and one that is too large transfers bytes that no
caller reads. The prediction is therefore rather too small. This file sends nothing.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import NamedTuple

from .names import TopicPartition

FIRST_BYTES = 16 << 10
"""The default of Kafka's `batch.size`: one batch of a producer with default settings."""
LEAST_BYTES = 1 << 10
"""A request for one batch, which the broker sends completely, whatever its size."""
PARTIAL = 0.1
"""A rest below this part of a batch is not requested yet, because the sizes of batches differ a
little."""
MOST_PARTITIONS = 10_000


class Batches(NamedTuple):
    """The complete batches of one response: their number, bytes and offsets. `largest_bytes` is the
    size of the largest batch."""

    number: int
    size_bytes: int
    largest_bytes: int
    offsets: int


class FetchSizes:
    """The sizes of the batches of each partition, for the partitions that were read last."""

    def __init__(self) -> None:
        self._seen: OrderedDict[TopicPartition, Batches] = OrderedDict()

    def note(self, partition: TopicPartition, batches: Batches) -> None:
        """Records the batches of a response."""
        self._seen[partition] = batches
        self._seen.move_to_end(partition)
        if len(self._seen) > MOST_PARTITIONS:
            self._seen.popitem(last=False)

    def size_bytes(self, partition: TopicPartition, offsets: int, *, at_batch_start: bool) -> int:
        """The bytes to request for `offsets` offsets. From the middle of a batch, part of the first
        one is before the position."""
        seen = self._seen.get(partition)
        if seen is None:
            return FIRST_BYTES
        batches = offsets * seen.number / seen.offsets
        whole = math.ceil(batches - PARTIAL) if at_batch_start else math.floor(batches)
        if whole <= 1:
            return LEAST_BYTES
        return max((whole - 1) * seen.size_bytes // seen.number + seen.largest_bytes, LEAST_BYTES)
