"""Rows whose fields an implementation found in a chunk, as for nearly every record."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .choice import Implementation
from .gather import as_names, lists
from .headers import Headers
from .rows import Common, Rows
from .schema import TYPES
from .spans import Bytes, Ints, RecordSpans


class FoundRows(Rows):
    """Rows of a chunk's `data`, one for each entry of the `spans`."""

    def __init__(
        self, common: Common, headers: Headers, which: Ints, data: Bytes, spans: RecordSpans, by: Implementation
    ) -> None:
        super().__init__(common, headers, which)
        self._data, self._spans, self._by = data, spans, by

    def keys(self) -> pa.Array:
        return self._by.gather(self._data, self._spans.key_start, self._spans.key_size)

    def values(self) -> pa.Array:
        return self._by.gather(self._data, self._spans.value_start, self._spans.value_size)

    def header_lists(self) -> pa.Array:
        counts = self._spans.header_count
        names, name_sizes, values, value_sizes = self._by.find_headers(self._data, self._spans.header_start, counts)
        return lists(
            counts,
            as_names(self._by.gather(self._data, names, name_sizes)),
            self._by.gather(self._data, values, value_sizes),
            TYPES["headers"],
        )

    def offsets(self) -> Ints:
        return self.of_batch("base_offset") + self._spans.offset_delta

    def timestamps(self) -> Ints:
        stamps = self.of_batch("base_timestamp") + self._spans.timestamp_delta
        appended = self.of_batch("timestamp_type") == 1
        return np.where(appended, self.of_batch("max_timestamp"), stamps) if appended.any() else stamps
