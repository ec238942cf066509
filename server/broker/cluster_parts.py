"""Builds the parts that a node has besides those of a node that is alone, in one written order.

Only a node with peers imports this module, and only a broker imports the parts of brokers: most
nodes are alone, and start sooner so. Nothing runs yet when `cluster_parts` returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ..raft.lazy_channel import LazyChannel
from ..raft.outbound_channel import OutboundChannel, PeerChannel
from .controller_registration_manager import ControllerRegistrationManager
from .node_to_controller_channel import NodeToControllerChannel

if TYPE_CHECKING:
    from ..replica.replication.alter_partition_manager import AlterPartitionManager
    from ..replica.replication.replica_fetcher_manager import ReplicaFetcherManager
    from ..replica.replication.replication_quotas import ReplicationQuotaManagers
    from .broker_lifecycle_manager import BrokerLifecycleManager
    from .host import ClusterHost

QUORUM_TIMEOUT = "controller.quorum.request.timeout.ms"
CONTROLLER_TIMEOUT = "controller.socket.timeout.ms"
FETCHER_TIMEOUT = "replica.socket.timeout.ms"
BROKER_TIMEOUT = "request.timeout.ms"

PERSISTER_CHANNELS = 5
"""One for each kind of request of the persister."""


class BrokerParts(NamedTuple):
    """The parts of a broker whose active controller is, or may become, another node."""

    channels: Sequence[PeerChannel]
    lifecycle: BrokerLifecycleManager
    fetchers: ReplicaFetcherManager
    alter_partition_manager: AlterPartitionManager
    replication_quotas: ReplicationQuotaManagers


class ClusterParts(NamedTuple):
    """The channels to other nodes, and the parts of each role; None for a role that the node does
    not have.
    """

    channels: Sequence[PeerChannel]
    controller_registration: ControllerRegistrationManager | None
    broker: BrokerParts | None


def cluster_parts(node: ClusterHost) -> ClusterParts:
    """The parts of a node with peers, by its roles."""
    to_controller = NodeToControllerChannel(node)
    registration = ControllerRegistrationManager(node, to_controller) if "controller" in node.roles else None
    broker = _broker_parts(node, to_controller) if "broker" in node.roles else None
    channels = [
        PeerChannel(f"raft-client-{node.id}", node.quorum, QUORUM_TIMEOUT),
        PeerChannel(str(node.id), to_controller, CONTROLLER_TIMEOUT),
        *(() if broker is None else broker.channels),
    ]
    return ClusterParts(channels, registration, broker)


def _broker_parts(node: ClusterHost, to_controller: NodeToControllerChannel) -> BrokerParts:
    from ..replica.replication.alter_partition_manager import AlterPartitionManager
    from ..replica.replication.replica_fetcher_manager import ReplicaFetcherManager
    from ..replica.replication.replication_quotas import ReplicationQuotaManagers
    from .assignments_manager import AssignmentsManager
    from .broker_lifecycle_manager import BrokerLifecycleManager

    forwarding, isr_changes = NodeToControllerChannel(node), NodeToControllerChannel(node)
    assignments = AssignmentsManager(node, forwarding)
    lifecycle = BrokerLifecycleManager(node, to_controller, forwarding, assignments)
    fetchers = ReplicaFetcherManager(node)
    alter_partition_manager = AlterPartitionManager(node, isr_changes)
    replication_quotas = ReplicationQuotaManagers(node)
    channels = [
        PeerChannel(str(node.id), forwarding, CONTROLLER_TIMEOUT),
        PeerChannel(str(node.id), isr_changes, CONTROLLER_TIMEOUT),
        PeerChannel(f"broker-{node.id}-fetcher-0", fetchers, FETCHER_TIMEOUT),
        PeerChannel(f"broker-{node.id}-txn-marker-sender", node.transactions.markers, BROKER_TIMEOUT),
        PeerChannel(f"broker-{node.id}-add-partitions", node.transactions.partitions_manager, BROKER_TIMEOUT),
        *(
            PeerChannel(
                f"broker-{node.id}-persister", LazyChannel(partial(_persister_channel, node, number)), BROKER_TIMEOUT
            )
            for number in range(PERSISTER_CHANNELS)
        ),
        PeerChannel(
            f"broker-{node.id}-partition-metadata", LazyChannel(partial(_metadata_channel, node)), BROKER_TIMEOUT
        ),
        PeerChannel(f"broker-{node.id}-share-group-dlq", LazyChannel(partial(_dlq_channel, node)), BROKER_TIMEOUT),
    ]
    return BrokerParts(channels, lifecycle, fetchers, alter_partition_manager, replication_quotas)


def _persister_channel(node: ClusterHost, index: int) -> OutboundChannel | None:
    return node.persister.managers[index] if node.has_persister else None


def _metadata_channel(node: ClusterHost) -> OutboundChannel | None:
    return node.partition_metadata_client if node.has_partition_metadata_client else None


def _dlq_channel(node: ClusterHost) -> OutboundChannel | None:
    return node.share_group_dlq_manager if node.has_share_group_dlq_manager else None
