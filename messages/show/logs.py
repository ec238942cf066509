"""Log segments and snapshots, batch by batch: memory holds one batch at a time, whatever the file's size.

This file opens nothing: it is given something to read from.
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
"""A batch with more bytes ends the reading: no node takes one."""
_SMALLEST = 14
_CHUNK = 1 << 20
_TASTE = 256  # bytes that are shown of what has no length that can be true


def log(
    read: Callable[[int], bytes],
    *,
    records: str = RAW,
    partial: bool = False,
    limit: int = LIMIT,
    bounds: TextLimits = TREE,
) -> Iterator[ShownBatch]:
    """The batches that `read(size)` gives, as a file's method does. A length that cannot be true ends it, with a batch whose `error` says so.
    With `partial` a last batch that is cut off is no error."""
    offset = 0
    while head := _exactly(read, LOG_OVERHEAD):
        size = int.from_bytes(head[8:12], "big", signed=True)
        believed = len(head) == LOG_OVERHEAD and _SMALLEST <= size <= LARGEST_BATCH
        data = head + _exactly(read, size if believed else _TASTE)
        made = ShownBatch(data, offset, records=records, limit=limit, bounds=bounds)
        made.cut_off = (
            partial
            and made.header is None
            and (len(data) < LOG_OVERHEAD or (believed and len(data) < LOG_OVERHEAD + size))
        )
        yield made
        if not believed:
            return
        offset += len(data)


def batches(
    data: Buffer, *, records: str = RAW, partial: bool = False, bounds: TextLimits = TREE
) -> Iterator[ShownBatch]:
    """The batches of a buffer, as a field of records holds them."""
    return log(BytesIO(data).read, records=records, partial=partial, bounds=bounds)


def _exactly(read: Callable[[int], bytes], size: int) -> bytes:
    """`size` bytes, or what there is; memory grows with what came, not with what was announced."""
    parts: list[bytes] = []
    while size > 0 and (part := read(min(size, _CHUNK))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
