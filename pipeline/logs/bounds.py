"""The offsets from which and to which a partition is read: given as offsets, or found by timestamp.

As in Spark's Kafka source, a timestamp means the first offset whose record is not earlier, or the
end when there is none. It takes precedence over an offset. Valid `.timeindex` and `.index` files
reduce the reading.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafkadouble.wire import columns

from .batch_runs import BatchRun, batch_runs
from .finding import Folder
from .indexes import OffsetIndex, quiet_until
from .log_filter import FAR
from .options import EARLIEST, LATEST, SKIP, LogOptions, offset_of
from .segment_file import Vanished, opened
from .segments import SegmentListing


class OffsetBounds(NamedTuple):
    """The offsets from `first`, before `end`."""

    first: int = 0
    end: int = FAR


def bounds_of(folder: Folder, log: list[SegmentListing], options: LogOptions) -> OffsetBounds:
    """The requested offsets of this partition, not below its log start offset."""
    topic, partition = folder.topic or "", -1 if folder.partition is None else folder.partition
    first = offset_of(options.starting_offsets, topic, partition, EARLIEST)
    end = offset_of(options.ending_offsets, topic, partition, LATEST)
    if options.starting_timestamp is not None:
        first = offset_at(log, options.starting_timestamp)
    if options.ending_timestamp is not None:
        end = offset_at(log, options.ending_timestamp)
    end = FAR if end == LATEST else end
    narrowing = options.narrowing
    return OffsetBounds(max(first, folder.log_start_offset, narrowing.first), min(end, narrowing.end))


def offset_at(log: list[SegmentListing], timestamp: int) -> int:
    """The first offset with a record that is not earlier than this; FAR when there is none."""
    for segment in log:
        try:
            found = _offset_in(segment, timestamp)
        except Vanished:
            continue  # segments that retention deletes are older than those that stay
        if found is not None:
            return found
    return FAR


def _offset_in(segment: SegmentListing, timestamp: int) -> int | None:
    quiet = quiet_until(segment, timestamp)
    with opened(segment) as file:
        position = OffsetIndex(segment, file).position_before(quiet) if quiet >= 0 else 0
        for run in batch_runs(file, segment, position, segment.size, SKIP):
            if isinstance(run, BatchRun):
                found = _offset_in_run(run, timestamp)
                if found is not None:
                    return found
    return None


def _offset_in_run(run: BatchRun, timestamp: int) -> int | None:
    """Reads a batch only when its largest timestamp is late enough; its records may still be
    earlier than the header says."""
    headers = run.headers
    for index in np.flatnonzero(headers.max_timestamp >= timestamp).tolist():
        found: list[int] = []
        origin = columns.Origin(None, None, position=run.position)
        chosen = headers[index : index + 1]
        for batch in columns.decode(run.buffer, chosen, ("offset", "timestamp"), origin, on_corrupt=SKIP):
            times = batch.column("timestamp").cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
            found += batch.column("offset").to_numpy()[times >= timestamp * 1000].tolist()
        if found:
            return min(found)
    return None
