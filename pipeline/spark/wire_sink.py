"""Writing to `kafka-wire`: each task of a batch or a micro-batch writes its rows, and ends when the
brokers have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage

from ..wire.options import QueryOptions

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass
class RowsWritten(WriterCommitMessage):
    """The message of a task to the driver: how many rows it wrote. It is informational."""

    rows: int


class BatchWriter(DataSourceArrowWriter):
    def __init__(self, settings: QueryOptions) -> None:
        self._settings = settings

    def write(self, iterator: Iterator[pa.RecordBatch]) -> RowsWritten:
        return _written(iterator, self._settings)


class StreamWriter(DataSourceStreamArrowWriter):
    def __init__(self, settings: QueryOptions) -> None:
        self._settings = settings

    def write(self, iterator: Iterator[pa.RecordBatch]) -> RowsWritten:
        return _written(iterator, self._settings)


def _written(iterator: Iterator[pa.RecordBatch], settings: QueryOptions) -> RowsWritten:
    from ..wire import writing  # slow to import, and not needed where a writer is only made

    return RowsWritten(writing.write(iterator, settings))
