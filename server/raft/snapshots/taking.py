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
from .. import following, learning
from ..follower import Follower
from ..links import Failure
from ..raft_log import Diverged
from .fetching import Download, Progress, answer_in
from .keeping import forget_old

if TYPE_CHECKING:
    from ..replica import Replica
    from .service import Snapshots


def begin(snapshots: Snapshots, replica: Replica, id: OffsetAndEpoch) -> None:
    """The leader has this snapshot for us: start with nothing of it. Diverged when it cannot be meant for us."""
    snapshots.drop()
    log = replica.log
    if id.offset <= log.high_watermark or not log.lacks(id):
        raise Diverged(f"the leader offers a snapshot up to {id!r} to a log that ends at {log.end!r}: {log!r}")
    snapshots.download = Download(snapshots.store, id, replica.epoch, replica.settings.fetch_snapshot_max_bytes)


def request(snapshots: Snapshots, replica: Replica, id: OffsetAndEpoch) -> Message:
    """The next piece; the same again where there was no answer."""
    if snapshots.download is None or snapshots.download.id != id:
        begin(snapshots, replica, id)
    assert snapshots.download is not None
    return snapshots.download.request(replica.key, replica.cluster_id)


def answered(snapshots: Snapshots, replica: Replica, response: Any | Failure) -> bool:
    """A piece, or an error: then the log is fetched again. Tells whether the answer was one."""
    if not isinstance(response, FetchSnapshotResponse):
        return False
    learning.check_top(response.error_code)
    answer = answer_in(response)
    if answer is not None and not response.error_code:
        partition = response.topics[0].partitions[0]
        handled = learning.learn(replica, partition.current_leader, answer.code, response.node_endpoints)
        if handled is not None:
            return handled
    state, download = replica.state, snapshots.download
    if not isinstance(state, Follower) or download is None:
        return False
    progress = download.take(answer)
    if progress is Progress.GIVEN_UP:
        snapshots.download, state.fetching_snapshot = None, None
        return False
    state.fetched(replica.now)
    if progress is Progress.DONE:
        snapshots.download = None
        following.snapshot_taken(replica, download.id)
        forget_old(replica.log, snapshots.store, replica.now)
    return True
