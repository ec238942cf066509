"""Apache Kafka on this machine, from the jars that Maven publishes: no Docker.

`jars` fetches them, `java` runs them, `process` is one that runs, `node` its place in a cluster, `cluster` is one to three brokers with their
controllers, `identity` asks a broker who it is.
"""

from __future__ import annotations

from .cluster import Cluster, cluster
from .jars import VERSION, Missing, jars
from .node import Node

__all__ = ["VERSION", "Cluster", "Missing", "Node", "cluster", "jars"]
