"""Reads leader epochs and starts new ones without a client. Call every function on the loop's
thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkadouble.arguments.parameters import check
from kafkadouble.common.errors import KafkaError
from kafkadouble.common.missing_names import no_partition
from kafkadouble.server.node import Node
from kafkadouble.server.replica import leadership
from kafkadouble.server.replica.replication.partition import Partition
from kafkadouble.server.requests.request import Refusal

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import BrokerApi, ClusterApi


def find(broker: ClusterApi, topic: str, index: int) -> tuple[BrokerApi, Partition]:
    """A partition and the broker that leads it. Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION) when
    there is no such partition."""
    check(topic=topic, partition=index)
    apis = broker.leading(topic, index)
    if apis is None:
        raise no_partition(broker.image, topic, index)
    return apis


def leader_epoch(broker: ClusterApi, topic: str, index: int) -> int:
    """The current leader epoch of a partition."""
    return find(broker, topic, index)[1].leader_epoch


def epochs(broker: ClusterApi, topic: str, index: int) -> dict[int, int]:
    """The leader epochs in the log, each with its start offset."""
    return {entry.epoch: entry.offset for entry in find(broker, topic, index)[1].log.epochs.entries}


def bump(broker: ClusterApi, topic: str, index: int) -> int:
    """Starts a new leader epoch and returns it."""
    return _moved(broker, topic, index, lambda node, partition, controller: leadership.elect(controller, partition))


def truncate(broker: ClusterApi, topic: str, index: int, offset: int) -> int:
    """Removes the records from an offset on, and returns the leader epoch that starts there."""
    check(offset=offset)
    return _moved(
        broker,
        topic,
        index,
        lambda node, partition, controller: leadership.lose_tail(node, partition, offset, controller),
    )


def _moved(broker: ClusterApi, topic: str, index: int, move: Callable[[Node, Partition, Node], int]) -> int:
    leader, partition = find(broker, topic, index)
    node, controller = leader.node, broker.controlling.node
    for each in (node, controller):
        each.advance(broker.clock.now())
    try:
        move(node, partition, controller)
    except Refusal as refusal:
        raise KafkaError(refusal.code, refusal.message) from None
    finally:
        # Requests that waited at the old leader continue.
        leader.settle()
        broker.settle()
    return partition.leader_epoch
