"""Kafka's configurations: what each one is, what it may hold, where its value comes from, how it may be altered.

`table.py` reads the rows of `broker_*.py`, `topic.py`, `group.py`, `client_metrics.py`; `layers.py` says which value counts;
`describe.py` and `alter.py` are DescribeConfigs and AlterConfigs without the wire. Everything here is pure: text in, values out.
"""
