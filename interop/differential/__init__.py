"""Requests that a kafkadouble and an Apache Kafka must answer alike, except for what
divergence.toml lists."""
