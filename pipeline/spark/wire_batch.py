"""A batch query on `kafka-wire`: the driver plans it once, and workers read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceReader, InputPartition

from ..wire import batch, pool
from ..wire.options import QueryOptions
from ..wire.watch import Watch

if TYPE_CHECKING:
    import pyarrow as pa


class BatchReader(DataSourceReader):
    """`names` are the columns that are made."""

    def __init__(self, settings: QueryOptions, names: Sequence[str]) -> None:
        self._settings, self._names = settings, names

    def partitions(self) -> list[InputPartition]:
        with pool.driving(self._settings) as client:
            return [InputPartition(task) for task in batch.plan(Watch(client, self._settings), self._settings)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if partition.value is None:  # the partition in place of an empty list
            return iter(())
        from ..wire import reading  # slow to import, and not needed by a driver that only plans

        return reading.read(partition.value, self._names, self._settings)
