"""How many bytes a Fetch asks for: about as many as the rest of the range takes.

Rules. The batches that came last say how large the next ones are. Until a batch of a partition came,
a Fetch asks for `FIRST_BYTES`. A broker always sends the first batch whole, so a request that is too
small costs one more round trip, and one that is too large sends bytes that no caller reads: sizes are
therefore rather too small. This file sends nothing.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import NamedTuple

from .names import TopicPartition

FIRST_BYTES = 16 << 10
"""The default of Kafka's `batch.size`: of a producer with defaults it is one batch."""
LEAST_BYTES = 1 << 10
"""A request for one batch, which the broker sends whole however large it is."""
PARTIAL = 0.1
"""A rest below this part of a batch is not asked for yet: sizes of batches differ a little."""
MOST_PARTITIONS = 10_000


class Batches(NamedTuple):
    """The whole batches of one answer: their number, and how many bytes and offsets they have. `largest_bytes` is one batch's."""

    number: int
    size_bytes: int
    largest_bytes: int
    offsets: int


class FetchSizes:
    """What is known of the batches of each partition; the partitions that were read last are kept."""

    def __init__(self) -> None:
        self._seen: OrderedDict[TopicPartition, Batches] = OrderedDict()

    def note(self, partition: TopicPartition, batches: Batches) -> None:
        """What an answer brought."""
        self._seen[partition] = batches
        self._seen.move_to_end(partition)
        if len(self._seen) > MOST_PARTITIONS:
            self._seen.popitem(last=False)

    def size_bytes(self, partition: TopicPartition, offsets: int, *, at_batch_start: bool) -> int:
        """For so many offsets. In the middle of a batch part of the first one lies before the position."""
        seen = self._seen.get(partition)
        if seen is None:
            return FIRST_BYTES
        batches = offsets * seen.number / seen.offsets
        whole = math.ceil(batches - PARTIAL) if at_batch_start else math.floor(batches)
        if whole <= 1:
            return LEAST_BYTES
        return max((whole - 1) * seen.size_bytes // seen.number + seen.largest_bytes, LEAST_BYTES)
