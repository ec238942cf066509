"""The handles of the brokers of a double: one, or those of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .broker_handle import BrokerHandle, Brokers, Serving
from .single_broker import SingleBrokerHandle

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import ClusterApi
    from kafkadouble.server.configs.settings import Settings


def brokers_of(serving: Serving, broker: ClusterApi | None, nodes: int, settings: Settings) -> Brokers:
    """The handles of the brokers of a double with so many nodes. `broker` is None before its first
    start."""
    if nodes == 1:
        id = settings.int("node.id") if broker is None else broker.node.id
        return Brokers([SingleBrokerHandle(serving, id)])
    cluster: Any = broker
    ids = range(1, nodes) if cluster is None else list(cluster.members_by_id)
    return Brokers(BrokerHandle(serving, id) for id in ids)
