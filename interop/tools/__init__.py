"""Kafka's own tools: those of the command line on every broker, and what they say of files beside
what our own reading of them says."""
