"""A topic as a table, a stream or a sink, by the options of Spark's own Kafka connector, but
without Spark.

`options` reads the options, `bounds` holds the start and the end of a query, `offsets` the text of
a checkpoint, `planning` divides the work into tasks, `losses` detects and reports lost records,
`stream` and `batch` are the driver's side, `reading` and `writing` the work of a task. Rules:
nothing here imports pyspark. `pipeline/client` sends and receives, and `wire/columns` decodes.
"""
