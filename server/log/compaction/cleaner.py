"""One cleaning of one log, in small steps, so that nobody waits for it: read what is dirty, then write each group of segments anew.

    steps = clean(log, now, most_keys)      # a generator; every `next` does a few batches
    ...                                     # its value: what came of it

Rules. Nothing of the log changes but in the one step that puts a finished segment in the place of the old ones: a cleaning that is dropped half
way leaves the log as it was. The leader epochs keep where they begin, whatever records went: an epoch that seemed to begin later would hide
where a follower's history left ours (KIP-101). What cannot be read is kept as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Sequence
from typing import NamedTuple

from kafkadouble.wire.batch import read_header, records_of
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.errors import WireError

from ..log import PartitionLog
from ..storage import ANY_TIMESTAMP, Segment
from .offset_map import OffsetMap
from .ranges import cleanable, groups
from .retention import Pass, retained
from .transactions import CleanedTransactions

log = logging.getLogger("kafkadouble.server.log")

STEP = 64 << 10
"""Bytes of batches between two pauses: some milliseconds."""


class Cleaned(NamedTuple):
    """From where on the log is dirty now, and what was read and left of the segments, in bytes."""

    cleaned_to: int
    read: int
    left: int


class Disturbed(Exception):
    """The log was truncated or shortened meanwhile: what was learnt of it is wrong now."""


Cleaning = Generator[None, None, Cleaned]


def clean(partition: PartitionLog, now: int, most_keys: int) -> Cleaning:
    """Compact what may be compacted. Raises Disturbed, and DiskFailure, in any step."""
    found = cleanable(partition, now)
    newest = OffsetMap(most_keys)
    yield from _learn(partition, found.start, found.end, newest)
    end = newest.latest + 1 if newest.full else found.end
    newest.latest = end - 1
    segments = [each for each in partition.segments[:-1] if each.base_offset < end]
    this = Pass(
        newest,
        CleanedTransactions(partition.aborted_in(partition.log_start_offset, end)),
        now,
        partition.config.delete_retention_ms,
        partition.last_batches(),
        end,
        partition.config.target_level,
    )
    read = left = 0
    for group in groups(segments, partition.config.segment_bytes):
        read += sum(each.size for each in group)
        left += yield from _rewrite(partition, group, this)
    partition.cleaned_to = end
    return Cleaned(end, read, left)


def _learn(partition: PartitionLog, start: int, end: int, newest: OffsetMap) -> Generator[None, None, None]:
    """Fill the map from the dirty part."""
    transactions, truncations = CleanedTransactions(partition.aborted_in(start, end)), partition.truncations
    done = 0
    for batch in partition.batches(start):
        header = read_header(batch)
        if header.base_offset >= end or newest.full:
            return
        if not transactions.is_obsolete(header, batch) and not header.is_control:
            for record in records_of(batch, 0, header, check_crc=False):
                if record.key is not None and start <= record.offset < end:
                    newest.put(record.key, record.offset)
        newest.latest = header.last_offset
        done += header.size
        if done >= STEP:
            done = 0
            yield
            _check_not_truncated(partition, truncations)


def _rewrite(partition: PartitionLog, group: Sequence[Segment], this: Pass) -> Generator[None, None, int]:
    """Put one segment in the place of a group; how many bytes it has. Batches beyond what was looked at stay as they are."""
    before, truncations = [(each, each.next_offset) for each in group], partition.truncations
    this = this._replace(segment_end=group[-1].next_offset)
    rewriting = partition.rewrite(group)
    done = left = 0
    try:
        for segment in group:
            for batch in segment.batches(segment.base_offset, ANY_TIMESTAMP):
                kept = batch if read_header(batch).base_offset >= this.end else _left_of(batch, this)
                if kept is not None:
                    rewriting.append(kept)
                    left += len(kept)
                done += len(batch)
                if done >= STEP:
                    done = 0
                    yield
                    _check_not_truncated(partition, truncations)
                    _check(partition, before)
        rewriting.finish()
    except BaseException:
        rewriting.drop()
        raise
    return left


def _check_not_truncated(partition: PartitionLog, truncations: int) -> None:
    """The offset map may name records that are gone: then older records of their keys must stay."""
    if partition.truncations != truncations:
        raise Disturbed("its end was truncated")


def _check(partition: PartitionLog, before: Sequence[tuple[Segment, int]]) -> None:
    closed = partition.segments[:-1]
    for segment, end in before:
        if not any(each is segment for each in closed) or segment.next_offset != end:
            raise Disturbed(f"the segment from {segment.base_offset} is not what it was")


def _left_of(batch: Buffer, this: Pass) -> Buffer | None:
    try:
        return retained(batch, this)
    except WireError as problem:
        log.warning("a batch cannot be compacted, and is kept: %s", problem)
        return batch
