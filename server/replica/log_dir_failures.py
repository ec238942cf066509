"""Log directories that fail while the node runs go offline until a restart (KIP-112, KIP-858).

Rules. The partitions of the directory answer KAFKA_STORAGE_ERROR from then on, and their
coordinators NOT_COORDINATOR. In the metadata the partitions lose their leader, and the broker the
directory; a controller on another node learns of it from heartbeats. A partition of which a file
was truncated or deleted from outside goes offline alone, and the broker reports the lost replica to
the controller. Without the metadata log nothing can be decided any more: the node halts and its
owner must stop it, as in Kafka.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.wire.client_log import ClientLog

from ..log.files.errors import DiskFailure
from ..logs.outage import Outage

if TYPE_CHECKING:
    from .host import ReplicaHost

log = ClientLog("kafkadouble.server.replica")


def handle_log_dir_failures(node: ReplicaHost) -> None:
    """Takes offline what failed since the last call."""
    while node.halted is None and (outages := node.logs.outages()):
        for outage in outages:
            _take_offline(node, outage)
    node.waiting.run(node.now)


def report_failures_of_stop(node: ReplicaHost) -> None:
    """Logs what a stop could not write. The next start recovers the logs of these directories."""
    for outage in node.logs.outages():
        log.error("%s could not be written to at the stop: %s", outage.path, outage.why.why)
        if outage.metadata:
            node.halted = f"{outage.path} could not be written to at the stop: {outage.why.why}"


def _take_offline(node: ReplicaHost, outage: Outage) -> None:
    if outage.metadata:
        node.halted = f"{outage.path}, which has the cluster's metadata, cannot be used any more: {outage.why.why}"
        log.error("%s", node.halted)
        return
    if outage.partitions or not outage.futures or not outage.is_partial:
        lost = "its partition is" if len(outage.partitions) == 1 else f"its {len(outage.partitions)} partitions are"
        log.error("%s is offline until a restart, and %s not served: %s", outage.path, lost, outage.why.why)
    node.partitions.take_offline(outage.partitions)
    if node.has_replica_alter_log_dirs_manager:
        node.replica_alter_log_dirs_manager.take_offline(outage.partitions, outage.futures)
    controller = node.controller
    report = controller.partitions_lost if outage.is_partial else controller.directory_lost
    try:
        report(outage.directory, outage.partitions)
    except DiskFailure:
        return  # the next failure to handle
    if node.lifecycle is None:
        return
    if outage.is_partial:
        node.lifecycle.partitions_lost(outage.partitions)
    else:
        node.lifecycle.log_dir_failed(outage.directory)
