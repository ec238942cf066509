"""A cluster as values: its id, its controller, and the brokers with their addresses and states.

The names are those of Kafka's DescribeCluster. Everything here runs on the broker's thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.common.errors import KafkaError
from kafkadouble.common.listening import text_of

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import BrokerState, ClusterApi

RUNNING, PAUSED, ISOLATED, STOPPED = "running", "paused", "isolated", "stopped"


class BrokerDescription(NamedTuple):
    """A broker. `address` is HOST:PORT on its first listener. `state` is running, paused,
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


def describe(broker: ClusterApi) -> ClusterDescription:
    """The cluster as it is now."""
    broker.settle()
    servers = ",".join(text_of(*address) for address in broker.addresses())
    found = {
        id: BrokerDescription(id, text_of(*state.address), _word(state), _is_fenced(broker, id))
        for id, state in broker.states.items()
    }
    # A single broker that is down has its node, too.
    node = broker.node
    return ClusterDescription(node.cluster_id, node.id, servers, found, broker.clock.now())


def _word(state: BrokerState) -> str:
    if not state.runs:
        return STOPPED
    return PAUSED if state.is_paused else ISOLATED if state.is_isolated else RUNNING


def _is_fenced(broker: ClusterApi, id: int) -> bool:
    try:
        registered = broker.image.brokers.get(id)
    except KafkaError:  # the only broker is down
        return True
    return registered is None or registered.fenced
