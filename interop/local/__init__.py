"""Apache Kafka on this machine, from the jars that Maven publishes, without Docker.

`jars` fetches them, `java` builds the command lines, `process` runs one JVM, `node` is a node of a
cluster, `cluster` is one to three brokers with their controllers, `identity` asks a broker for its
id and its cluster.
"""

from __future__ import annotations

from .cluster import Cluster, cluster
from .jars import VERSION, Missing, jars
from .node import Node

__all__ = ["VERSION", "Cluster", "Missing", "Node", "cluster", "jars"]
