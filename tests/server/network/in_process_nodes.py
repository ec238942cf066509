"""A controller and a broker that can be members of one process."""

from __future__ import annotations

from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.logs.memory import MemoryLogs
from kafkadouble.server.node import Node
from tests.server.harness import NOW, SEED
from tests.support.listeners import listeners_of

CONTROLLER, BROKER = ("controller", 1), ("broker", 2)


def node(id: int, role: str, place: tuple[str, int], **config: object) -> Node:
    logs = MemoryLogs()
    logs.cluster_id = "a-cluster"
    listeners = "CONTROLLER://:1" if role == "controller" else "PLAINTEXT://:2"
    given = {"node.id": id, "process.roles": role, "listeners": listeners, **config}
    controller = place if role == "controller" else None
    settings = Settings(given)
    return Node(settings, listeners=listeners_of(settings, place, controller), now=NOW, seed=SEED + id, logs=logs)
