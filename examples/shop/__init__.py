"""A shop of four small programs, with one suite of tests that runs on a double and on a real Kafka.

    pytest -p kafkadouble.pytest_plugin examples/shop
    pytest -p kafkadouble.pytest_plugin examples/shop --kafka-broker=local

`outbox.py` sends the rows of an outbox, `worker.py` makes invoices of orders exactly once,
`notifier.py` is a consumer group of KIP-848, and `packer.py` a share group.
"""
