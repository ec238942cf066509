"""Requests that a kafkadouble and an Apache Kafka answer alike, but for what divergence.toml
lists."""
