"""Handles FetchSnapshot: a leader that sends bytes to a voter records its fetch (KIP-595,
KIP-630).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotRequest
from kafkadouble.messages.message import Message

from .. import fetch_handler as log_fetching
from ..leader_state import LeaderState
from ..messages import InboundRequest
from ..replica_key import ReplicaKey
from .fetch_snapshot_response import QuorumView, serve

if TYPE_CHECKING:
    from ..raft_replica import RaftReplica
    from .store import SnapshotStore


def handle(store: SnapshotStore, most: int | None, replica: RaftReplica, request: InboundRequest) -> Message:
    """A part of a snapshot, or an error."""
    requested = cast(FetchSnapshotRequest, request.body)
    served = serve(requested, request.version, _seat(replica), store, most)
    if served.gave:
        partition = requested.topics[0].partitions[0]
        log_fetching.record_fetch(replica, ReplicaKey(requested.replica_id, partition.replica_directory_id))
    return served.response


def _seat(replica: RaftReplica) -> QuorumView:
    return QuorumView(
        replica.key.id,
        replica.cluster_id,
        replica.epoch,
        replica.leader_id,
        isinstance(replica.state, LeaderState),
        replica.endpoint_of_leader(),
        stopping=replica.shutdown_until is not None or replica.failure is not None,
    )
