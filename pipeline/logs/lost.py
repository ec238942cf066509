"""The row that stands for bytes that hold no batch."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from .segments import SegmentListing


def lost_row(schema: pa.Schema, segment: SegmentListing, values: Mapping[str, object]) -> pa.RecordBatch:
    """One row: where it lies, and the values that are given; everything else is null."""
    known = {
        "topic": segment.topic,
        "partition": segment.partition,
        "segment": segment.name,
        "replica": segment.replica,
        **values,
    }
    return pa.RecordBatch.from_pylist([{name: known.get(name) for name in schema.names}], schema=schema)
