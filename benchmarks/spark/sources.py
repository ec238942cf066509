"""The sources that are compared: ours, each with one implementation in the worker, and a naive
reader.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from kafkadouble.pipeline.spark.log_source import KafkaLog
from kafkadouble.pipeline.spark.wire_source import KafkaWire
from kafkadouble.wire.batch_read import decode_all

NUMPY, FAST = "lanes", "native"
"""The implementations (`wire/columns/choice.py`): the one in numpy that batches of 16 KB get
without the extension, and the extension.
"""

CONNECTORS = (
    "key binary, value binary, topic string, partition int, offset long, timestamp timestamp, timestampType int"
)
"""The columns of Spark's own connector."""


class Held(DataSourceReader):
    """A reader whose worker finds fields with one implementation. Workers are reused, so each task
    names the implementation.
    """

    def __init__(self, inner: Any, implementation: str) -> None:
        self._inner, self._implementation = inner, implementation

    def partitions(self) -> Sequence[InputPartition]:
        found: Sequence[InputPartition] = self._inner.partitions()
        return found

    def read(self, partition: InputPartition) -> Iterator[Any]:
        os.environ["KAFKADOUBLE_COLUMNS"] = self._implementation
        yield from self._inner.read(partition)


def held(source: type[Any], implementation: str) -> type[Any]:
    """The source with a name of its own: `kafka-wire-lanes`."""

    class Source(source):
        @classmethod
        def name(cls) -> str:
            return f"{source.name()}-{implementation}"

        def reader(self, schema: Any) -> Held:
            return Held(super().reader(schema), implementation)

    return Source


class Naive(DataSource):
    """Yields a tuple per record with the connector's columns: `load(file)` reads one segment of
    `topic` and `partition` with `decode_all`.
    """

    @classmethod
    def name(cls) -> str:
        return "naive"

    def schema(self) -> str:
        return CONNECTORS

    def reader(self, schema: Any) -> NaiveReader:
        return NaiveReader(self.options["path"])


class NaiveReader(DataSourceReader):
    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(str(path)) for path in sorted(self._path.glob("*.log"))]

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        path = Path(partition.value)
        topic, _, number = path.parent.name.rpartition("-")
        for record in decode_all(path.read_bytes()):
            at = datetime.fromtimestamp(record.timestamp / 1000, UTC)
            yield record.key, record.value, topic, int(number), record.offset, at, 0


ALL = [*(held(source, which) for source in (KafkaWire, KafkaLog) for which in (NUMPY, FAST)), Naive]
