"""Kafka's internal logs as tables: the history of a cluster's metadata, of committed offsets and of
transactions.

    open_log("/var/kafka-logs", level="metadata", table="isr_history")

Rules. One reader reads the whole log in order, because a row may depend on any earlier record;
these logs are small. The server's own fold (`server.metadata`) interprets the records, so a table
shows what a node would have known. Each level (`metadata`, `offsets`, `transactions`) has several
tables; its table `records` shows every record as it is.
"""
