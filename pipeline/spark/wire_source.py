"""`kafka-wire`: topics of any broker that speaks Kafka's protocol, read as batches and streams, and
written to, without a jar.

Rules: `pipeline.wire` defines the options and makes the decisions; this file and its neighbours
`wire_*` adapt it to Spark's interface. Objects of these classes are pickled between processes, so a
new one holds no connection.
"""

from __future__ import annotations

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from kafkadouble.wire.errors import UsageError

from ..wire import options, shape
from .wire_batch import BatchReader
from .wire_sink import BatchWriter, StreamWriter
from .wire_stream import StreamReader

NAME = "kafka-wire"


class KafkaWire(DataSource):
    """The data source that Spark finds by its name."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return shape.schema(options.read(self.options, options.SOURCE))

    def reader(self, schema: StructType) -> BatchReader:
        return BatchReader(options.read(self.options, options.BATCH), _names(schema))

    def streamReader(self, schema: StructType) -> StreamReader:
        return StreamReader(options.read(self.options, options.STREAM), _names(schema))

    def writer(self, schema: StructType, overwrite: bool) -> BatchWriter:
        if overwrite:
            raise UsageError('a topic cannot be overwritten: write to it with mode("append")')
        return BatchWriter(self._sink(schema))

    def streamWriter(self, schema: StructType, overwrite: bool) -> StreamWriter:
        return StreamWriter(self._sink(schema))

    def _sink(self, schema: StructType) -> options.QueryOptions:
        settings = options.read(self.options, options.SINK)
        shape.check_sink({field.name: field.dataType.simpleString() for field in schema.fields}, settings["topic"])
        return settings


def _names(schema: StructType) -> tuple[str, ...]:
    return shape.check([shape.RequestedColumn(f.name, f.dataType.simpleString(), f.nullable) for f in schema.fields])
