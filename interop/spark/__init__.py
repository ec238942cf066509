"""The data pipeline, compared with an Apache Kafka on this machine and with Spark's own Kafka
connector."""
