"""Elections that a test orders: a new leader epoch for a partition, with or without data loss.

Rules. The election's record in the metadata log sets the epoch (KIP-631); nothing here does. Data
is lost as if a broker without the last records became leader (KIP-101, KIP-320): the log ends
earlier, the high watermark with it, and the new epoch begins there. Listeners that keep state by
partition drop it and load the log again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord

from ..requests.request import Refusal
from .replication.partition import Partition

if TYPE_CHECKING:
    from .host import ReplicaHost


def elect(node: ReplicaHost, partition: Partition) -> int:
    """Elects the same leader again, at the node that leads the quorum; returns the partition's
    epoch.

    The returned epoch is the new one if the partition's leader is the same node. Another node
    learns of it from the metadata.
    """
    change = PartitionChangeRecord(
        topic_id=partition.topic_id, partition_id=partition.index, leader=partition.leader_id
    )
    node.controller.commit([change])
    return partition.leader_epoch


def lose_tail(node: ReplicaHost, partition: Partition, offset: int, controller: ReplicaHost | None = None) -> int:
    """Loses the batch that holds `offset` and all later ones; returns the epoch as `elect` does.

    `controller` is the node that leads the quorum, if it is another one. Raises
    Refusal(OFFSET_OUT_OF_RANGE) for an offset outside of the log; the log end offset is allowed.
    """
    log = partition.log
    if not log.log_start_offset <= offset <= log.log_end_offset:
        held = (
            f"{partition.topic}-{partition.index} holds the offsets from {log.log_start_offset} to {log.log_end_offset}"
        )
        raise Refusal(error_codes.OFFSET_OUT_OF_RANGE, f"{held}: it cannot be cut at {offset}")
    listeners = node.partitions.listeners
    for listener in listeners:
        listener.on_resignation(partition)
    log.truncate_to(offset)
    epoch = elect(controller or node, partition)
    for listener in listeners:
        listener.on_election(partition)
    return epoch
