"""The preferred read replica of a consumer: Kafka's `RackAwareReplicaSelector` (KIP-392).

The leader serves consumers in its own rack and consumers without a rack. For another rack the
preferred replica is an in-sync follower in that rack. It advertises the listener of the request,
and has the requested offset. Of several, it has the largest log end offset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..host import FetchHost
    from ..replication.partition import Partition

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
LEADER = -1
"""No preferred read replica: the consumer reads from the leader."""


def selects_by_rack(node: FetchHost) -> bool:
    """Returns whether this broker sends consumers to other replicas at all."""
    return node.settings["replica.selector.class"] == RACK_AWARE


def preferred_read_replica(node: FetchHost, partition: Partition, rack: str, offset: int, listener: str) -> int:
    """Returns the id of the broker to read from; LEADER for the leader."""
    in_sync, brokers = partition.in_sync, node.image.brokers
    if in_sync is None or not rack:
        return LEADER
    near = {id for id in in_sync.isr if id in brokers and brokers[id].rack == rack and brokers[id].active}
    ends = {id: in_sync.remotes[id].end_offset for id in near & in_sync.remotes.keys()}
    able = {id: end for id, end in ends.items() if end >= offset and brokers[id].endpoint(listener)}
    return LEADER if node.id in near or not able else max(able, key=lambda id: (able[id], -id))
