"""Leaves every batch to the plain reader. This implementation is the reference for the others."""

import numpy as np

from .spans import Bytes, Ints, RecordSpans


def find(data: Bytes, starts: Ints, ends: Ints, counts: Ints) -> RecordSpans:
    """Implements `spans.Finder`."""
    count = int(counts.sum())
    none = np.zeros(count, np.int32)
    return RecordSpans(np.zeros(count, np.int64), none, none, none, none, none, none, none, np.ones(len(counts), bool))
