"""Reads and changes an Apache Kafka cluster by requests, in place of the brokers of a double and
their thread."""
