"""Makes Spark find the source and sink `kafka-wire`: it looks for sources in top-level modules
called `pyspark_*`."""

from kafkadouble.pipeline.spark.wire_source import KafkaWire as DefaultSource

__all__ = ["DefaultSource"]
