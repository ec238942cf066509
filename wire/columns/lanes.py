"""Finds the fields of the records of many batches of similar size. One step reads the first record
of every batch, the next step reads the second record of every batch, and so on."""

import numpy as np

from .spans import END, RAW_ROWS, Bytes, Ints, RecordSpans, finish, read_fields


def find(data: Bytes, starts: Ints, ends: Ints, counts: Ints) -> RecordSpans:
    """Implements `spans.Finder`."""
    # Sorts the batches by record count: in each step, the batches with another record are the first
    # ones.
    order = np.argsort(-counts, kind="stable")
    widths = _widths(counts[order])
    steps = np.zeros(len(widths) + 1, np.int64)
    np.cumsum(widths, out=steps[1:])
    raw = np.empty((RAW_ROWS, int(steps[-1])), np.int64)
    bad = np.zeros(raw.shape[1], bool)
    at = starts[order]
    for width, low in zip(widths.tolist(), steps.tolist(), strict=False):
        row = raw[:, low : low + width]
        for invalid in read_fields(data, at[:width], row):
            bad[low + invalid] = True
        at = row[END]
    # The column of each record in the raw rows, in the order of the batches.
    lane = np.empty(len(order), np.int64)
    lane[order] = np.arange(len(order))
    first = np.cumsum(counts) - counts
    index = np.arange(int(counts.sum())) - np.repeat(first, counts)
    back = steps[index] + np.repeat(lane, counts)
    return finish(data, raw.take(back, axis=1), bad.take(back), ends, counts)


def _widths(counts: Ints) -> Ints:
    """The number of batches that have a k-th record, for every k; `counts` descend."""
    return np.searchsorted(-counts, -np.arange(int(counts[0]) if len(counts) else 0), side="left").astype(np.int64)
