"""The row for bytes that hold no batch."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from .segments import SegmentListing


def lost_row(schema: pa.Schema, segment: SegmentListing, values: Mapping[str, object]) -> pa.RecordBatch:
    """One row: the position, and the given values; all other columns are null."""
    known = {
        "topic": segment.topic,
        "partition": segment.partition,
        "segment": segment.name,
        "replica": segment.replica,
        **values,
    }
    return pa.RecordBatch.from_pylist([{name: known.get(name) for name in schema.names}], schema=schema)
