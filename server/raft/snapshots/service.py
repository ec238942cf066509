"""FetchSnapshot of one replica: the store that it serves from, and the one download in progress.

The code is in modules that are imported when they are needed (`fetch_snapshot_handler`,
`fetch_snapshot_sender`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafkadouble.messages.message import Message

    from ...log.offset_and_epoch import OffsetAndEpoch
    from ..messages import InboundRequest
    from ..raft_replica import RaftReplica
    from ..request_manager import OutboundRequest, RequestFailure
    from .download import SnapshotDownload
    from .store import SnapshotStore


class FetchSnapshotService:
    """A SnapshotService. `most` is `replica.fetch.response.max.bytes`, if it bounds responses
    (KIP-630).
    """

    def __init__(self, store: SnapshotStore, most: int | None = None) -> None:
        self.store, self.most = store, most
        self.download: SnapshotDownload | None = None

    def handle(self, replica: RaftReplica, request: InboundRequest) -> Message:
        """A part of a snapshot, or an error."""
        from . import fetch_snapshot_handler

        return fetch_snapshot_handler.handle(self.store, self.most, replica, request)

    def begin(self, replica: RaftReplica, id: OffsetAndEpoch) -> None:
        """The leader named this snapshot: starts to fetch it. DivergedLog if the log is ahead of
        it.
        """
        from . import fetch_snapshot_sender

        fetch_snapshot_sender.begin(self, replica, id)

    def request(self, replica: RaftReplica, id: OffsetAndEpoch) -> Message:
        """The request for the next part; the same one after a lost response."""
        from . import fetch_snapshot_sender

        return fetch_snapshot_sender.request(self, replica, id)

    def answered(self, replica: RaftReplica, send: OutboundRequest, response: Any | RequestFailure) -> bool:
        """Handles a part, or an error, after which the log is fetched again. Returns whether the
        response was usable.
        """
        from . import fetch_snapshot_sender

        return fetch_snapshot_sender.answered(self, replica, response)

    def drop(self) -> None:
        """Abandons the download."""
        download, self.download = self.download, None
        if download is not None:
            download.abandon()

    def __repr__(self) -> str:
        return f"{self.store!r}, {self.download!r}" if self.download else repr(self.store)
