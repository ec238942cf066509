"""FetchSnapshot as this replica sends it: one snapshot at a time. When it is whole the log goes on at its end, and when it is given up the log
is fetched again. A leader that names a snapshot of what this replica's log has already, or that contradicts what it knows to be committed, is
the end of this replica. Apache Kafka's goes by the epoch of the log's end instead: it also ends where a tail of a later epoch, which was never
committed, would only have to go (KIP-630).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    from ..kafka_raft_client import KafkaRaftClient
    from .service import FetchSnapshotService


def begin(snapshots: FetchSnapshotService, replica: KafkaRaftClient, id: OffsetAndEpoch) -> None:
    """The leader has this snapshot for us: start with nothing of it. Diverged when it cannot be meant for us."""
    snapshots.drop()
    log = replica.log
    if id.offset <= log.high_watermark or not log.lacks(id):
        raise DivergedLog(f"the leader offers a snapshot up to {id!r} to a log that ends at {log.end!r}: {log!r}")
    snapshots.download = SnapshotDownload(snapshots.store, id, replica.epoch, replica.settings.fetch_snapshot_max_bytes)


def request(snapshots: FetchSnapshotService, replica: KafkaRaftClient, id: OffsetAndEpoch) -> Message:
    """The next piece; the same again where there was no answer."""
    if snapshots.download is None or snapshots.download.id != id:
        begin(snapshots, replica, id)
    assert snapshots.download is not None
    return snapshots.download.request(replica.key, replica.cluster_id)


def answered(snapshots: FetchSnapshotService, replica: KafkaRaftClient, response: Any | RequestFailure) -> bool:
    """A piece, or an error: then the log is fetched again. Tells whether the answer was one."""
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
