"""Kafka's own tools: the command-line tools on every broker, and their reading of files compared
with ours."""
