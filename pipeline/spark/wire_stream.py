"""A streaming query on `kafka-wire`. One reader is in the driver's process and answers Spark's
calls; copies of the reader read in the workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)

from ..wire import pool
from ..wire.offsets import Json
from ..wire.options import QueryOptions
from ..wire.stream import MicroBatchStream

if TYPE_CHECKING:
    import pyarrow as pa


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """`names` are the columns to read. The first call of a method creates the stream."""

    def __init__(self, settings: QueryOptions, names: Sequence[str]) -> None:
        self._settings, self._names = settings, names
        self._created: MicroBatchStream | None = None

    def initialOffset(self) -> Json:
        return self._stream.initial()

    def getDefaultReadLimit(self) -> ReadLimit:
        """Spark has no read limit for both options, so `latestOffset` always uses both."""
        most, least = self._settings["maxOffsetsPerTrigger"], self._settings["minOffsetsPerTrigger"]
        if most is not None:
            return ReadMaxRows(most)
        return ReadAllAvailable() if least is None else ReadMinRows(least)

    def latestOffset(self, start: Json, limit: ReadLimit) -> Json:
        return self._stream.latest(start, everything=isinstance(limit, ReadAllAvailable))

    def reportLatestOffset(self) -> Json | None:
        return self._stream.newest()

    def prepareForTriggerAvailableNow(self) -> None:
        self._stream.until_now()

    def partitions(self, start: Json, end: Json) -> list[InputPartition]:
        return [InputPartition(task) for task in self._stream.plan(start, end)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        from ..wire import reading  # slow to import, and not needed by a driver that only plans

        return reading.read(partition.value, self._names, self._settings)

    def commit(self, end: Json) -> None:
        self._stream.commit(end)

    def stop(self) -> None:
        if self._created is not None:
            self._created.stop()

    @property
    def _stream(self) -> MicroBatchStream:
        if self._created is None:
            self._created = MicroBatchStream(pool.driving(self._settings), self._settings)
        return self._created
