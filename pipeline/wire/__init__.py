"""A topic as a table, a stream or a sink, by the options of Spark's own Kafka connector, but without Spark.

`options` is the table of what may be said, `bounds` where a query begins and ends, `offsets` the text that a checkpoint keeps, `planning`
who reads what, `losses` what is gone and how that is told, `stream` and `batch` the decisions of a driver, `reading` and `writing` the work
of a task. Rules: nothing here imports pyspark; what is sent and received is the business of `pipeline/client`, what bytes mean that of
`wire/columns`.
"""
