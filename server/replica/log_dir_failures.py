"""Log directories that fail while the node runs (KIP-112, KIP-858): each goes offline for good, and the others serve on.

Rules. What lay in it answers KAFKA_STORAGE_ERROR from then on, its coordinators NOT_COORDINATOR; the metadata says that its
partitions have no leader, and which directories are left; a controller that is another node hears of it in heartbeats. A
partition of which a file was emptied or deleted goes offline alone; the controller hears that its directory is lost. Without
the log of the metadata nothing can be decided any more: the node is halted, and its owner is to end it, as Kafka does.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ..log.files.errors import DiskFailure
from ..logs.outage import Outage

if TYPE_CHECKING:
    from ..node import Node

log = logging.getLogger("kafkadouble.server.replica")


def face(node: Node) -> None:
    """Take offline whatever has failed since the last time."""
    while node.halted is None and (found := node.logs.outages()):
        for outage in found:
            _take_offline(node, outage)
    node.waiting.run(node.now)


def _take_offline(node: Node, outage: Outage) -> None:
    if outage.metadata:
        node.halted = f"{outage.path}, which has the cluster's metadata, cannot be used any more: {outage.why.why}"
        log.error("%s", node.halted)
        return
    lost = "its partition is" if len(outage.partitions) == 1 else f"its {len(outage.partitions)} partitions are"
    log.error("%s is offline until a restart, and %s not served: %s", outage.path, lost, outage.why.why)
    node.partitions.take_offline(outage.partitions)
    controller = node.controller
    tell = controller.partitions_lost if outage.is_partial else controller.directory_lost
    try:
        tell(outage.directory, outage.partitions)
    except DiskFailure:
        return  # the next to be faced
    if node.lifecycle is None:
        return
    if outage.is_partial:
        node.lifecycle.partitions_lost(outage.partitions)
    else:
        node.lifecycle.log_dir_failed(outage.directory)
