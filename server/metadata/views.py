"""The view that clients get of brokers and partitions: leaders that can be reached, replicas,
offline replicas.

`listener` is the name of the listener that received the request. The view has only brokers that
advertise a listener of this name, and their addresses there (KIP-103).
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import NamedTuple, TypeVar

from kafkadouble.messages import error_codes

from .image import BrokerImage, Endpoint, Image, PartitionImage
from .log_dir_ids import directories_of, is_online

EndpointStruct = TypeVar("EndpointStruct")

NO_LEADER = -1


class Reachable(NamedTuple):
    """A broker, and its endpoint on the listener."""

    broker: BrokerImage
    endpoint: Endpoint


def reachable(image: Image, listener: str, *, fenced_too: bool = False) -> list[Reachable]:
    """The brokers that the client can reach, by id."""
    brokers = [image.brokers[broker_id] for broker_id in sorted(image.brokers)]
    return [
        Reachable(broker, endpoint)
        for broker in brokers
        if (fenced_too or not broker.fenced) and (endpoint := broker.endpoint(listener)) is not None
    ]


def endpoints(
    image: Image, listener: str, ids: Container[int], of: Callable[..., EndpointStruct]
) -> list[EndpointStruct]:
    """The endpoints of these brokers, as structs of the class `of` (KIP-951)."""
    return [
        of(node_id=broker.id, host=at.host, port=at.port, rack=broker.rack)
        for broker, at in reachable(image, listener)
        if broker.id in ids
    ]


def controller_id(image: Image) -> int:
    """The broker that is shown as the controller: any live one, since brokers forward the
    controller's requests (KIP-590)."""
    return min((broker.id for broker in image.brokers.values() if not broker.fenced), default=-1)


class PartitionView(NamedTuple):
    """One partition as the client sees it. `error_code` is that of Metadata."""

    error_code: int
    leader: int
    leader_epoch: int
    replicas: list[int]
    isr: list[int]
    offline: list[int]


def view_partition(
    image: Image, partition: PartitionImage, listener: str, *, listener_errors: bool = True, only_alive: bool = False
) -> PartitionView:
    """`listener_errors`: the error for a leader without the listener is LISTENER_NOT_FOUND, as from
    Metadata 6 on; otherwise it is LEADER_NOT_AVAILABLE.

    `only_alive`: offline replicas are left out, and are an error, as in Metadata 0.
    """
    offline = [broker for broker in partition.replicas if not _is_online(image, broker, partition, listener)]
    replicas, isr = list(partition.replicas), list(partition.isr)
    if only_alive:
        replicas = [broker for broker in replicas if _is_reachable(image, broker, listener)]
        isr = [broker for broker in isr if _is_reachable(image, broker, listener)]
    error, leader = error_codes.NONE, partition.leader
    if not _is_reachable(image, leader, listener):
        known = leader in image.brokers and listener_errors
        error, leader = error_codes.LISTENER_NOT_FOUND if known else error_codes.LEADER_NOT_AVAILABLE, NO_LEADER
    elif len(replicas) < len(partition.replicas) or len(isr) < len(partition.isr):
        error = error_codes.REPLICA_NOT_AVAILABLE
    return PartitionView(error, leader, partition.leader_epoch, replicas, isr, offline)


def _is_reachable(image: Image, broker_id: int, listener: str) -> bool:
    broker = image.brokers.get(broker_id)
    return broker is not None and not broker.fenced and broker.endpoint(listener) is not None


def _is_online(image: Image, broker_id: int, partition: PartitionImage, listener: str) -> bool:
    if not _is_reachable(image, broker_id, listener):
        return False
    directory = directories_of(partition).get(broker_id)
    return directory is None or is_online(directory, image.brokers[broker_id].log_dirs)
