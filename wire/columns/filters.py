"""Selects batches and rows: by offsets, and by committed transactions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from .fixed import fixed, numbers
from .headers import Bools, Headers, Ints


def between(batch: pa.RecordBatch, first: int, end: int) -> pa.RecordBatch:
    """The rows with first <= offset < end; the batch has the column `offset`. Copies nothing when
    they are contiguous."""
    offsets = numbers(batch.column("offset"), np.int64)
    inside = (offsets >= first) & (offsets < end)
    count = int(np.count_nonzero(inside))
    start = int(inside.argmax()) if count else 0
    if inside[start : start + count].all():
        return batch.slice(start, count)
    return batch.filter(fixed(inside, pa.bool_()))


def committed(headers: Headers, aborted: Iterable[tuple[int, int]]) -> Bools:
    """Which batches are not part of an aborted transaction. `aborted` holds (producer id, first
    offset), as in a Fetch response. An aborted transaction ends at the next control batch of its
    producer (KIP-98). Control batches are kept."""
    keep = np.ones(len(headers), bool)
    starts = defaultdict(list)
    for producer_id, first_offset in aborted:
        starts[producer_id].append(first_offset)
    if not starts:
        return keep
    order = np.argsort(headers.producer_id, kind="stable")
    known = headers.producer_id[order]
    for producer_id, offsets in starts.items():
        low, high = np.searchsorted(known, producer_id, "left"), np.searchsorted(known, producer_id, "right")
        _leave_out(headers, order[low:high], offsets, keep)
    return keep


def _leave_out(headers: Headers, mine: Ints, first_offsets: list[int], keep: Bools) -> None:
    """`mine` are the indexes of one producer's batches, in order."""
    ends = np.append(np.flatnonzero(headers.control[mine]), len(mine))
    starts = np.unique(np.searchsorted(headers.last_offset[mine], first_offsets))
    stops, first = np.unique(ends[np.searchsorted(ends, starts)], return_index=True)
    for start, stop in zip(starts[first].tolist(), stops.tolist(), strict=True):
        left_out = mine[start:stop]
        keep[left_out[headers.transactional[left_out]]] = False
