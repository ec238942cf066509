"""Makes Spark find the source `kafka-log`: it looks for sources in top-level modules called
`pyspark_*`."""

from kafkadouble.pipeline.spark.log_source import KafkaLog as DefaultSource

__all__ = ["DefaultSource"]
