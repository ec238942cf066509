"""Which replica a consumer had better read from: one in its own rack, as Kafka's RackAwareReplicaSelector has it (KIP-392).

The leader serves whoever is in its rack, and everybody without one. Of several followers in the consumer's rack, in sync and with the records
that it asks for, the one that has come furthest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...node import Node
    from ..partition import Partition

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
LEADER = -1
"""No other replica than the one that was asked."""


def selects(node: Node) -> bool:
    """Whether this node sends consumers elsewhere at all."""
    return node.settings["replica.selector.class"] == RACK_AWARE


def nearest(node: Node, partition: Partition, rack: str, offset: int) -> int:
    """The broker to read from; LEADER for the one that leads."""
    in_sync, brokers = partition.in_sync, node.controller.image.brokers
    if in_sync is None or not rack:
        return LEADER
    near = {id for id in in_sync.isr if id in brokers and brokers[id].rack == rack and brokers[id].active}
    ends = {id: in_sync.remotes[id].end_offset for id in near & in_sync.remotes.keys()}
    able = {id: end for id, end in ends.items() if end >= offset}
    return LEADER if node.id in near or not able else max(able, key=lambda id: (able[id], -id))
