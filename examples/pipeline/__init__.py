"""A data pipeline from its first record to its audit, on a cluster with failures.

    make pipeline        or, with what that installs:  python -m examples.pipeline

`orders` writes orders with a real client, and `transactions` writes them in transactions. `cluster`
is the cluster and its failures. `stream` is the Spark program that aggregates the orders. `audit`
compares its results with the brokers' files. `page` writes a report of both. `stream` and `audit`
do not depend on the rest: `spark-submit` runs them on any cluster.
"""
