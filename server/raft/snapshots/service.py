"""FetchSnapshot of one replica, both sides: what `serving` and `fetching` need to know of it, and what becomes of it by what they say.

A leader that gives bytes takes the request for a sign of life (KIP-595). A replica fetches one snapshot at a time; when it is whole the log
goes on at its end, and when it is given up the log is fetched again. A leader that names a snapshot that this replica's log is ahead of
contradicts what is committed: that is the end of this replica, as of Apache Kafka's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from kafkadouble.messages.generated.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse
from kafkadouble.messages.message import Message

from ...log.files.errors import DiskFailure
from ...log.offset_and_epoch import OffsetAndEpoch
from .. import fetching as log_fetching
from .. import following, learning
from ..follower import Follower
from ..leader import Leader
from ..links import Failure, Send
from ..messages import Incoming
from ..raft_log import Diverged
from ..replica_key import ReplicaKey
from .fetching import Download, Progress, answer_in, wanted
from .keeping import forget_old
from .serving import Seat, failed, serve
from .store import SnapshotStore

if TYPE_CHECKING:
    from ..replica import Replica


class Snapshots:
    """A SnapshotService. `most` is `replica.fetch.response.max.bytes`, where it is to bind what is served (KIP-630)."""

    def __init__(self, store: SnapshotStore, most: int | None = None) -> None:
        self._store, self._most = store, most
        self._download: Download | None = None

    def handle(self, replica: Replica, request: Incoming) -> Message:
        """A piece of a snapshot, or the error that says why not."""
        asked = cast(FetchSnapshotRequest, request.body)
        try:
            served = serve(asked, request.version, _seat(replica), self._store, self._most)
        except DiskFailure as problem:
            replica.fail(problem)
            return failed()
        if served.gave:
            partition = asked.topics[0].partitions[0]
            log_fetching.heard_of(replica, ReplicaKey(asked.replica_id, partition.replica_directory_id))
        return served.response

    def begin(self, replica: Replica, id: OffsetAndEpoch) -> None:
        """The leader has this snapshot for us: start with nothing of it. Diverged when our log is ahead of it."""
        self.drop()
        if wanted(id.offset, id.epoch, replica.log.end) is None:
            raise Diverged(f"the leader offers a snapshot up to {id!r}, and the log ends at {replica.log.end!r}")
        self._download = Download(self._store, id, replica.epoch, replica.settings.fetch_snapshot_max_bytes)

    def request(self, replica: Replica, id: OffsetAndEpoch) -> Message:
        """The next piece; the same again where there was no answer."""
        if self._download is None or self._download.id != id:
            self.begin(replica, id)
        assert self._download is not None
        return self._download.request(replica.key, replica.cluster_id)

    def answered(self, replica: Replica, send: Send, response: Any | Failure) -> bool:
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
        state, download = replica.state, self._download
        if not isinstance(state, Follower) or download is None:
            return False
        progress = download.take(answer)
        if progress is Progress.GIVEN_UP:
            self._download, state.fetching_snapshot = None, None
            return False
        state.fetched(replica.now, replica.settings.fetch_timeout_ms)
        if progress is Progress.DONE:
            self._download = None
            following.snapshot_taken(replica, download.id)
            forget_old(replica.log, self._store, replica.now)
        return True

    def drop(self) -> None:
        """Forget the pieces that have come."""
        download, self._download = self._download, None
        if download is not None:
            download.abandon()

    def __repr__(self) -> str:
        return f"{self._store!r}, {self._download!r}" if self._download else repr(self._store)


def _seat(replica: Replica) -> Seat:
    return Seat(
        replica.key.id,
        replica.cluster_id,
        replica.epoch,
        replica.leader_id,
        isinstance(replica.state, Leader),
        replica.endpoint_of_leader(),
        stopping=replica.shutdown_until is not None or replica.failure is not None,
    )
