"""FetchSnapshot of one replica, both sides: what it serves from, and the one snapshot that it fetches.

How is in files of their own, which are imported when somebody asks, or when there is something to fetch (`giving`, `taking`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafkadouble.messages.message import Message

    from ...log.offset_and_epoch import OffsetAndEpoch
    from ..kafka_raft_client import KafkaRaftClient
    from ..messages import InboundRequest
    from ..request_manager import OutboundRequest, RequestFailure
    from .download import SnapshotDownload
    from .store import SnapshotStore


class FetchSnapshotService:
    """A SnapshotService. `most` is `replica.fetch.response.max.bytes`, where it bounds what is served (KIP-630)."""

    def __init__(self, store: SnapshotStore, most: int | None = None) -> None:
        self.store, self.most = store, most
        self.download: SnapshotDownload | None = None

    def handle(self, replica: KafkaRaftClient, request: InboundRequest) -> Message:
        """A piece of a snapshot, or the error that says why not."""
        from . import fetch_snapshot_handler

        return fetch_snapshot_handler.handle(self, replica, request)

    def begin(self, replica: KafkaRaftClient, id: OffsetAndEpoch) -> None:
        """The leader has this snapshot for us: start with nothing of it. Diverged when our log is ahead of it."""
        from . import fetch_snapshot_sender

        fetch_snapshot_sender.begin(self, replica, id)

    def request(self, replica: KafkaRaftClient, id: OffsetAndEpoch) -> Message:
        """The next piece; the same again where there was no answer."""
        from . import fetch_snapshot_sender

        return fetch_snapshot_sender.request(self, replica, id)

    def answered(self, replica: KafkaRaftClient, send: OutboundRequest, response: Any | RequestFailure) -> bool:
        """A piece, or an error: then the log is fetched again. Tells whether the answer was one."""
        from . import fetch_snapshot_sender

        return fetch_snapshot_sender.answered(self, replica, response)

    def drop(self) -> None:
        """Forget the pieces that have come."""
        download, self.download = self.download, None
        if download is not None:
            download.abandon()

    def __repr__(self) -> str:
        return f"{self.store!r}, {self.download!r}" if self.download else repr(self.store)
