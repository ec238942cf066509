"""Reads and changes a Kafka by requests: what stands for the brokers of a double, and for their
thread."""
