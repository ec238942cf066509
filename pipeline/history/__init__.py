"""What Kafka's own logs tell: the history of a cluster's metadata, of its groups' offsets and of its transactions, as tables.

    open_log("/var/kafka-logs", level="metadata", table="isr_history")

Rules. A log is read whole and in its order, by one reader, since a row may follow from any record before it; these logs are small. What a
record means is the business of the server's own fold (`server.metadata`), so that a table says what a node would have known. Each level is a
table of tables (`metadata`, `offsets`, `transactions`), and `records` of each shows every record as it is.
"""
