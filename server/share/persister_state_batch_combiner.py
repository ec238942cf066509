"""Combines the state batches of a share partition with newer ones (KIP-932; Kafka:
`PersisterStateBatchCombiner`).

Rules. Batches before the start offset are dropped. If batches overlap, the batch with the higher
delivery count is kept; with equal counts, the batch with the higher delivery state. Neighbours with
the same state and count become one batch. A gap between batches stays a gap. A single batch is
returned as it is, and a batch that ends before it begins is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import itemgetter

from .persister import UNINITIALIZED_START_OFFSET, PersisterStateBatch

Priority = tuple[int, int]
"""Delivery count and delivery state."""


def combine_state_batches(
    so_far: Iterable[PersisterStateBatch], new: Iterable[PersisterStateBatch], start_offset: int
) -> tuple[PersisterStateBatch, ...]:
    """Returns the batches from `start_offset` on, in order and without overlap; -1 keeps them
    all."""
    batches = [*_pruned(so_far, start_offset), *_pruned(new, start_offset)]
    return tuple(batches) if len(batches) <= 1 else tuple(_sweep(batches))


def _pruned(batches: Iterable[PersisterStateBatch], start_offset: int) -> Iterator[PersisterStateBatch]:
    for batch in batches:
        if batch.last_offset < batch.first_offset:
            continue
        if start_offset == UNINITIALIZED_START_OFFSET or batch.first_offset >= start_offset:
            yield batch
        elif batch.last_offset >= start_offset:
            yield batch._replace(first_offset=start_offset)


def _sweep(batches: list[PersisterStateBatch]) -> list[PersisterStateBatch]:
    """Walks over the offsets where a batch begins or ends. Between two of them, the batch with the
    highest priority counts."""
    events: list[tuple[int, bool, Priority]] = []
    for first, last, state, count in batches:
        events += (first, True, (count, state)), (last + 1, False, (count, state))
    events.sort(key=itemgetter(0))
    open_batches: dict[Priority, int] = {}
    combined: list[PersisterStateBatch] = []
    winner, opened = None, 0
    for offset, is_begin, priority in events:
        if winner is not None and offset > opened:
            _append_coalesced(combined, opened, offset - 1, winner)
        open_batches[priority] = count = open_batches.get(priority, 0) + (1 if is_begin else -1)
        if not count:
            del open_batches[priority]
        winner, opened = max(open_batches, default=None), offset
    return combined


def _append_coalesced(combined: list[PersisterStateBatch], first: int, last: int, priority: Priority) -> None:
    count, state = priority
    if combined:
        tail = combined[-1]
        if tail.last_offset + 1 == first and (tail.delivery_count, tail.delivery_state) == priority:
            combined[-1] = tail._replace(last_offset=last)
            return
    combined.append(PersisterStateBatch(first, last, state, count))
