"""TLS by Kafka's settings: contexts for listeners and for connections to other nodes, key stores,
and the principals of client certificates."""
