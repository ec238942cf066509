"""Shows log segments and snapshots batch by batch, with one batch in memory at a time.

This file opens nothing: the caller passes a function that reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO

from kafkadouble.wire.batch import LOG_OVERHEAD
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.compression import LIMIT

from .batches import ShownBatch
from .payload import RAW
from .text import TREE, TextLimits

LARGEST_BATCH = LIMIT
"""Reading ends at a larger batch: no node accepts such a batch."""
_SMALLEST = 14
_CHUNK = 1 << 20
_TASTE = 256  # how many bytes are shown after an impossible length


def log(
    read: Callable[[int], bytes],
    *,
    records: str = RAW,
    partial: bool = False,
    limit: int = LIMIT,
    bounds: TextLimits = TREE,
) -> Iterator[ShownBatch]:
    """The batches that `read(size)`, such as a file's method, returns. An impossible length ends
    the reading: the last batch reports it in its `error`. With `partial`, an incomplete last batch
    is no error."""
    offset = 0
    while head := _exactly(read, LOG_OVERHEAD):
        size = int.from_bytes(head[8:12], "big", signed=True)
        is_possible = len(head) == LOG_OVERHEAD and _SMALLEST <= size <= LARGEST_BATCH
        data = head + _exactly(read, size if is_possible else _TASTE)
        batch = ShownBatch(data, offset, records=records, limit=limit, bounds=bounds)
        batch.cut_off = (
            partial
            and batch.header is None
            and (len(data) < LOG_OVERHEAD or (is_possible and len(data) < LOG_OVERHEAD + size))
        )
        yield batch
        if not is_possible:
            return
        offset += len(data)


def batches(
    data: Buffer, *, records: str = RAW, partial: bool = False, bounds: TextLimits = TREE
) -> Iterator[ShownBatch]:
    """The batches of a buffer, as a field of records holds them."""
    return log(BytesIO(data).read, records=records, partial=partial, bounds=bounds)


def _exactly(read: Callable[[int], bytes], size: int) -> bytes:
    """`size` bytes, or fewer at the end. Memory grows with the bytes that were read, not with
    `size`."""
    parts: list[bytes] = []
    while size > 0 and (part := read(min(size, _CHUNK))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
