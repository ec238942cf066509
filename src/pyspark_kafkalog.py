"""Here Spark finds the source `kafka-log` without being told of it: it looks into top-level modules called `pyspark_*`."""

from kafkadouble.pipeline.spark.log_source import KafkaLog as DefaultSource

__all__ = ["DefaultSource"]
