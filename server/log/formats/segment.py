"""`.log`, and the snapshots of the metadata log (`.checkpoint`): batches, one after the other, as
Kafka's recovery reads them.

A batch is good when its length, magic and checksum are, when it begins after the batch before it,
and when its offsets fit into the segment: at or after the base offset, and within the reach of an
int32. `OffsetOrder` holds the rules about offsets, also for callers that read the batches by other
means. Records are not read here, and nothing is decompressed.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkadouble.wire.batch import BatchHeader, check_crc, read_header
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.errors import Truncated, WireError

from .errors import BadFile, TornTail
from .sparse import Sliceable

REACH = 2**31 - 1
"""The largest distance of an offset from the segment's base offset: indexes hold it as int32."""


class OffsetOrder:
    """The rules about the offsets of a segment's batches. `next_offset` is the smallest that the
    next batch may have."""

    __slots__ = ("base_offset", "next_offset")

    def __init__(self, base_offset: int | None = None) -> None:
        self.base_offset = base_offset
        self.next_offset = 0 if base_offset is None else base_offset

    def problem(self, header: BatchHeader) -> str | None:
        """Why this batch cannot be the next one; None when it can, and then it counts as read."""
        first, last = header.base_offset, header.last_offset
        if last < first:
            return f"the last offset {last} is before the first, {first}"
        if first < self.next_offset:
            return f"offset {first} where {self.next_offset} is the least that may come"
        base = first if self.base_offset is None else self.base_offset
        if last - base > REACH or last >= 2**63 - 1:
            return f"offset {last} is too far from the segment's base offset {base}"
        self.base_offset, self.next_offset = base, last + 1
        return None


def walk(
    data: Buffer, base_offset: int | None = None, position: int = 0, file: str = ""
) -> Iterator[tuple[int, BatchHeader]]:
    """Every good batch, beginning at `position`, with its position. BadFile at the first batch that
    is not good, with its position as `offset`; TornTail when the data only end too early, or in
    zeros."""
    order = OffsetOrder(base_offset)
    with memoryview(data) as view:
        while position < len(view):
            header = good_batch(view, position, order, file)
            yield position, header
            position += header.size


def good_batch(data: Buffer, position: int, order: OffsetOrder, file: str = "") -> BatchHeader:
    """The header of the batch at `position`. BadFile and TornTail as in `walk`."""
    try:
        header = read_header(data, position)
    except Truncated as error:
        raise TornTail(error.problem, file=file, offset=position) from None
    except WireError as error:
        if is_room(data, position):
            problem = f"{len(data) - position} bytes of zeros, where nothing was written"
            raise TornTail(problem, file=file, offset=position) from None
        raise BadFile(error.problem, file=file, offset=position) from None
    try:
        check_crc(data, position, header)
    except WireError as error:
        raise BadFile(error.problem, file=file, offset=position, path="crc") from None
    if (misplaced := order.problem(header)) is not None:
        raise BadFile(misplaced, file=file, offset=position, path="base_offset")
    return header


def is_room(data: Sliceable, position: int) -> bool:
    """Whether there are only zeros from `position` on, as with `preallocate`."""
    return not any(
        bytes(data[at : min(at + _CHUNK, len(data))]).strip(b"\0") for at in range(position, len(data), _CHUNK)
    )


_CHUNK = 1 << 16
