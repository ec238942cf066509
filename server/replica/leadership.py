"""What an election does to one partition, by order of whoever runs the node: a new leader epoch, with or without a tail that is lost.

Rules. The epoch comes from the metadata log, by the record that an election writes (KIP-631); nothing here sets it. A tail is lost as it is
when a broker that lacks it becomes the leader (KIP-101, KIP-320): the log ends at an earlier offset, the high watermark with it, and the new
epoch begins there. Who keeps state by partition drops it and reads the log anew, since what he knew may be gone from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord

from ..requests.request import Refusal
from .partition import Partition

if TYPE_CHECKING:
    from ..node import Node


def elect(node: Node, partition: Partition) -> int:
    """Elect the leader anew, at the node that leads the quorum; tells the epoch that begins, at the end of the log, if the leader is the same
    node: another learns of it from the metadata."""
    change = PartitionChangeRecord(
        topic_id=partition.topic_id, partition_id=partition.index, leader=partition.leader_id
    )
    node.controller.commit([change])
    return partition.leader_epoch


def lose_tail(node: Node, partition: Partition, offset: int, controller: Node | None = None) -> int:
    """Lose everything from `offset` on, and the whole batch that it lies in; tells the epoch that begins there, as `elect` does. `controller`
    is who leads the quorum, if it is another node.

    Refusal(OFFSET_OUT_OF_RANGE) for an offset that the log does not have; its end is no such one.
    """
    log = partition.log
    if not log.log_start_offset <= offset <= log.log_end_offset:
        held = (
            f"{partition.topic}-{partition.index} holds the offsets from {log.log_start_offset} to {log.log_end_offset}"
        )
        raise Refusal(error_codes.OFFSET_OUT_OF_RANGE, f"{held}: it cannot be cut at {offset}")
    listeners = node.partitions.listeners
    for listener in listeners:
        listener.lost(partition)
    log.truncate_to(offset)
    epoch = elect(controller or node, partition)
    for listener in listeners:
        listener.led(partition)
    return epoch
