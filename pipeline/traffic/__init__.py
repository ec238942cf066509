"""Captured traffic: who asked what of a Kafka server, in which version, with which errors, and how long it took.

Captures of ours, Kafka's own request log and that of Kroxylicious' protocol logger are read into one Arrow schema, of which reports are made.
Nothing here imports Spark, or a server.
"""
