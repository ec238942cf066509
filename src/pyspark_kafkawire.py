"""Here Spark finds the source and sink `kafka-wire` without being told of it: it looks into top-level modules called `pyspark_*`."""

from kafkadouble.pipeline.spark.wire_source import KafkaWire as DefaultSource

__all__ = ["DefaultSource"]
