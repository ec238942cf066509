"""Finds fields for many batches of similar size: of the first record of every batch at once, then
of the second of each, and so on."""

import numpy as np

from .spans import END, RAW_ROWS, Bytes, Ints, RecordSpans, finish, read_fields


def find(data: Bytes, starts: Ints, ends: Ints, counts: Ints) -> RecordSpans:
    """A `spans.Finder`."""
    # so that the batches that still have records come first
    order = np.argsort(-counts, kind="stable")
    widths = _widths(counts[order])
    steps = np.zeros(len(widths) + 1, np.int64)
    np.cumsum(widths, out=steps[1:])
    raw = np.empty((RAW_ROWS, int(steps[-1])), np.int64)
    bad = np.zeros(raw.shape[1], bool)
    at = starts[order]
    for width, low in zip(widths.tolist(), steps.tolist(), strict=False):
        row = raw[:, low : low + width]
        for some in read_fields(data, at[:width], row):
            bad[low + some] = True
        at = row[END]
    # For each record, batch by batch: its column in the raw rows.
    lane = np.empty(len(order), np.int64)
    lane[order] = np.arange(len(order))
    first = np.cumsum(counts) - counts
    index = np.arange(int(counts.sum())) - np.repeat(first, counts)
    back = steps[index] + np.repeat(lane, counts)
    return finish(data, raw.take(back, axis=1), bad.take(back), ends, counts)


def _widths(counts: Ints) -> Ints:
    """How many batches have a k-th record, for every k, when counts descend."""
    return np.searchsorted(-counts, -np.arange(int(counts[0]) if len(counts) else 0), side="left").astype(np.int64)
