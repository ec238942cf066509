"""A cluster as values: its id, its controller, and the brokers with their addresses and states.

The names are those of Kafka's DescribeCluster. Everything here runs on the broker's thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.common.errors import KafkaError
from kafkadouble.common.listening import text_of
from kafkadouble.engine.broker import Broker

if TYPE_CHECKING:
    from kafkadouble.engine.cluster import Cluster

RUNNING, PAUSED, ISOLATED, STOPPED = "running", "paused", "isolated", "stopped"


class BrokerDescription(NamedTuple):
    """One broker. `address` is HOST:PORT on its first listener. `state` is running, paused,
    isolated or stopped. `is_fenced` is what the controller's metadata say."""

    id: int
    address: str
    state: str
    is_fenced: bool


class ClusterDescription(NamedTuple):
    """A cluster. `controller_id` is the node id of the controller, `now_ms` the time of its clock
    (ms since the epoch)."""

    cluster_id: str
    controller_id: int
    bootstrap_servers: str
    brokers: dict[int, BrokerDescription]
    now_ms: int


def describe(broker: Broker | Cluster) -> ClusterDescription:
    """The cluster as it is now."""
    broker.settle()
    servers = ",".join(text_of(*address) for address in broker.addresses())
    found = {
        id: BrokerDescription(id, address, state, _is_fenced(broker, id)) for id, address, state in _states(broker)
    }
    # A single broker that is down has its node, too.
    node = broker.node
    return ClusterDescription(node.cluster_id, node.id, servers, found, broker.clock.now())


def _states(broker: Broker | Cluster) -> list[tuple[int, str, str]]:
    if isinstance(broker, Broker):
        return [
            (
                broker.node.id,
                text_of(*broker.addresses()[0]),
                STOPPED if broker.is_down else _reached(broker.is_paused, False),
            )
        ]
    return [
        (
            each.id,
            text_of(*each.address()),
            STOPPED if each.broker is None else _reached(each.is_paused, each.is_isolated),
        )
        for each in broker.members_by_id.values()
    ]


def _reached(is_paused: bool, is_isolated: bool) -> str:
    return PAUSED if is_paused else ISOLATED if is_isolated else RUNNING


def _is_fenced(broker: Broker | Cluster, id: int) -> bool:
    try:
        registered = broker.image.brokers.get(id)
    except KafkaError:  # the only broker is down
        return True
    return registered is None or registered.fenced
