"""Cleans one log in small steps, so that no request waits for it: reads the dirty part, then
rewrites each group of segments.

    steps = clean(log, now, most_keys)      # a generator; every `next` reads a few batches
    ...                                     # its value is the result

Rules. The log changes only in the step that replaces old segments by a finished one: a cleaning
that is dropped half way leaves the log as it was. The leader epochs keep their start offsets,
whatever records are removed: an epoch that seemed to begin later would hide where a follower's
history diverged from this one (KIP-101). A batch that cannot be read is kept as it is.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import NamedTuple

from kafkadouble.wire.batch import read_header, records_of
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import WireError

from ..log import PartitionLog
from ..storage import ANY_TIMESTAMP, LogSegment
from .offset_map import OffsetMap
from .ranges import cleanable, groups
from .record_filter import CleanerPass, retained
from .transactions import CleanedTransactions

log = ClientLog("kafkadouble.server.log")

STEP = 64 << 10
"""Bytes of batches between two pauses: some milliseconds."""


class Cleaned(NamedTuple):
    """The first dirty offset after the cleaning, and the bytes that were read and that are left."""

    cleaned_to: int
    read: int
    left: int


class CleaningAborted(Exception):
    """The log was truncated or shortened during the cleaning, so what was read of it no longer
    holds (Kafka's LogCleaningAbortedException)."""


Cleaning = Generator[None, None, Cleaned]


def clean(partition: PartitionLog, now: int, most_keys: int, *, whole_segments: bool = True) -> Cleaning:
    """Compacts what may be compacted; see `ranges.cleanable`. Every step may raise CleaningAborted
    and DiskFailure."""
    found = cleanable(partition, now, whole_segments=whole_segments)
    newest = OffsetMap(most_keys)
    yield from _learn(partition, found.start, found.end, newest)
    end = newest.latest + 1 if newest.full else found.end
    newest.latest = end - 1
    segments = [segment for segment in partition.segments[:-1] if segment.base_offset < end]
    settled = partition.high_watermark
    aborted = partition.aborted_in(partition.segments[0].base_offset, settled)
    this = CleanerPass(
        newest,
        CleanedTransactions([each for each in aborted if each.last_offset < settled]),
        now,
        partition.config.delete_retention_ms,
        partition.last_records(),
        found.end,
        settled,
        partition.config.target_level,
    )
    read = left = 0
    for group in groups(segments, partition.config.segment_bytes):
        read += sum(each.size for each in group)
        left += yield from _rewrite(partition, group, this)
    partition.cleaned_to = end
    return Cleaned(end, read, left)


def _learn(partition: PartitionLog, start: int, end: int, newest: OffsetMap) -> Generator[None, None, None]:
    """Fills the offset map from the dirty part."""
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


def _rewrite(partition: PartitionLog, group: Sequence[LogSegment], this: CleanerPass) -> Generator[None, None, int]:
    """Replaces a group of segments by one, and returns its size in bytes. Records that are not
    replicated are not changed: a marker there may still be truncated, and another one take its
    place."""
    before, truncations = [(segment, segment.next_offset) for segment in group], partition.truncations
    rewriting = partition.rewrite(group)
    done = left = 0
    try:
        for segment in group:
            for batch in segment.batches(segment.base_offset, ANY_TIMESTAMP):
                kept = _left_of(batch, this) if read_header(batch).next_offset <= this.settled else batch
                if kept is not None:
                    rewriting.append(kept)
                    left += len(kept)
                done += len(batch)
                if done >= STEP:
                    done = 0
                    yield
                    _check_not_truncated(partition, truncations)
                    _check(partition, before)
        unsettled = partition.aborted_between(max(this.settled, group[0].base_offset), group[-1].next_offset)
        partition.replace_segments(group, rewriting, [*this.transactions.take_listed(), *unsettled])
    except BaseException:
        rewriting.drop()
        raise
    return left


def _check_not_truncated(partition: PartitionLog, truncations: int) -> None:
    """Checks that the log was not truncated: the offset map may name lost records, and then older
    records of their keys must stay."""
    if partition.truncations != truncations:
        raise CleaningAborted("its end was truncated")


def _check(partition: PartitionLog, before: Sequence[tuple[LogSegment, int]]) -> None:
    closed = partition.segments[:-1]
    for segment, end in before:
        if not any(each is segment for each in closed) or segment.next_offset != end:
            raise CleaningAborted(f"the segment from {segment.base_offset} is not what it was")


def _left_of(batch: Buffer, this: CleanerPass) -> Buffer | None:
    try:
        return retained(batch, this)
    except WireError as problem:
        log.warning("a batch cannot be compacted, and is kept: %s", problem)
        return batch
