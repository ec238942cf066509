"""Kafka's configurations: type, default and bounds of each, where its value comes from, and how it
may be altered.

`table.py` reads the rows of `broker_*.py`, `topic.py`, `group.py` and `client_metrics.py`.
`layers.py` decides which value is effective. `describe.py` and `alter.py` are DescribeConfigs and
AlterConfigs without the wire. Everything here is pure: text in, values out.
"""
