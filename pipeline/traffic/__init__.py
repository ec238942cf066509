"""Captured traffic: the requests of clients to a Kafka server, with versions, errors and latencies.

Our captures, Kafka's request log and the log of Kroxylicious' protocol logger are read into one
Arrow schema, from which reports are made. Nothing here imports Spark, or a server.
"""
