"""FetchSnapshot of one replica, both sides: what it serves from, and the one snapshot that it fetches.

How is in files of their own, which are imported when somebody asks, or when there is something to fetch (`giving`, `taking`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafkadouble.messages.message import Message

    from ...log.offset_and_epoch import OffsetAndEpoch
    from ..links import Failure, Send
    from ..messages import Incoming
    from ..replica import Replica
    from .fetching import Download
    from .store import SnapshotStore


class Snapshots:
    """A SnapshotService. `most` is `replica.fetch.response.max.bytes`, where it bounds what is served (KIP-630)."""

    def __init__(self, store: SnapshotStore, most: int | None = None) -> None:
        self.store, self.most = store, most
        self.download: Download | None = None

    def handle(self, replica: Replica, request: Incoming) -> Message:
        """A piece of a snapshot, or the error that says why not."""
        from . import giving

        return giving.handle(self, replica, request)

    def begin(self, replica: Replica, id: OffsetAndEpoch) -> None:
        """The leader has this snapshot for us: start with nothing of it. Diverged when our log is ahead of it."""
        from . import taking

        taking.begin(self, replica, id)

    def request(self, replica: Replica, id: OffsetAndEpoch) -> Message:
        """The next piece; the same again where there was no answer."""
        from . import taking

        return taking.request(self, replica, id)

    def answered(self, replica: Replica, send: Send, response: Any | Failure) -> bool:
        """A piece, or an error: then the log is fetched again. Tells whether the answer was one."""
        from . import taking

        return taking.answered(self, replica, response)

    def drop(self) -> None:
        """Forget the pieces that have come."""
        download, self.download = self.download, None
        if download is not None:
            download.abandon()

    def __repr__(self) -> str:
        return f"{self.store!r}, {self.download!r}" if self.download else repr(self.store)
