"""Sends FetchSnapshot, for one snapshot at a time. When it is complete the log continues from its
end; when it is abandoned the log is fetched again. If the leader names a snapshot whose records the
log has, or that contradicts committed records, this replica stops. Apache Kafka compares the epoch
of the log's end instead: it also stops for an uncommitted tail of a later epoch, which only needs a
truncation (KIP-630).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotResponse
from kafkadouble.messages.message import Message

from ...log.offset_and_epoch import OffsetAndEpoch
from .. import follower_actions, leader_discovery
from ..follower_state import FollowerState
from ..raft_log import DivergedLog
from ..request_manager import RequestFailure
from .cleaner import forget_old
from .download import DownloadProgress, SnapshotDownload, answer_in

if TYPE_CHECKING:
    from ..raft_replica import RaftReplica
    from .store import SnapshotStore


class SnapshotFetch(Protocol):
    """The one download of a replica, if there is one, and where it is stored."""

    store: SnapshotStore
    download: SnapshotDownload | None

    def drop(self) -> None:
        """Abandons the download."""
        ...


def begin(snapshots: SnapshotFetch, replica: RaftReplica, id: OffsetAndEpoch) -> None:
    """The leader named this snapshot: starts to fetch it. DivergedLog if it cannot be for this
    replica.
    """
    snapshots.drop()
    log = replica.log
    if id.offset <= log.high_watermark or not log.lacks(id):
        raise DivergedLog(f"the leader offers a snapshot up to {id!r} to a log that ends at {log.end!r}: {log!r}")
    snapshots.download = SnapshotDownload(snapshots.store, id, replica.epoch, replica.settings.fetch_snapshot_max_bytes)


def request(snapshots: SnapshotFetch, replica: RaftReplica, id: OffsetAndEpoch) -> Message:
    """The request for the next part; the same one after a lost response."""
    if snapshots.download is None or snapshots.download.id != id:
        begin(snapshots, replica, id)
    assert snapshots.download is not None
    return snapshots.download.request(replica.key, replica.cluster_id)


def answered(snapshots: SnapshotFetch, replica: RaftReplica, response: Any | RequestFailure) -> bool:
    """Handles a part, or an error, after which the log is fetched again. Returns whether the
    response was usable.
    """
    if not isinstance(response, FetchSnapshotResponse):
        return False
    leader_discovery.check_top_level_error(response.error_code)
    answer = answer_in(response)
    if answer is not None and not response.error_code:
        partition = response.topics[0].partitions[0]
        handled = leader_discovery.handle_leader_and_epoch(
            replica, partition.current_leader, answer.code, response.node_endpoints
        )
        if handled is not None:
            return handled
    state, download = replica.state, snapshots.download
    if not isinstance(state, FollowerState) or download is None:
        return False
    progress = download.take(answer)
    if progress is DownloadProgress.GIVEN_UP:
        snapshots.download, state.fetching_snapshot = None, None
        return False
    state.fetched(replica.now)
    if progress is DownloadProgress.DONE:
        snapshots.download = None
        follower_actions.snapshot_fetched(replica, download.id)
        forget_old(replica.log, snapshots.store, replica.now)
    return True
