"""A data pipeline from its first record to its audit, on a cluster that misbehaves on the way.

    make pipeline        or, with what that installs:  python -m examples.pipeline

`orders` writes orders with a real client, `cluster` is the cluster and what befalls it, `stream` is the Spark program that aggregates them,
`audit` the one that holds its results against the brokers' own files, `page` makes a report of both. `stream` and `audit` know nothing of
the rest and run by `spark-submit` as well, on whatever cluster.
"""
