"""The seam to `snapshots`: FetchSnapshot served, and fetched (KIP-630).

Serving: `handle` answers; `fetching.leader_code` says whether this replica leads in the epoch that was named, and `fetching.heard_of` notes
that a voter is there. Fetching: `begin` when a leader names a snapshot, `request` for each next piece, `answered` with each piece; when it
is whole, it stands in the store and `following.snapshot_taken` moves the log there. `drop` whenever this replica turns to somebody else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from kafkadouble.messages.message import Message

from ..log.offset_and_epoch import OffsetAndEpoch
from .links import Failure, Send
from .messages import Incoming

if TYPE_CHECKING:
    from .replica import Replica


class SnapshotService(Protocol):
    """Both sides of FetchSnapshot."""

    def handle(self, replica: Replica, request: Incoming) -> Message:
        """A piece of a snapshot, or the error that says why not."""
        ...

    def begin(self, replica: Replica, id: OffsetAndEpoch) -> None:
        """The leader has this snapshot for us: start with nothing of it."""
        ...

    def request(self, replica: Replica, id: OffsetAndEpoch) -> Message:
        """The next piece."""
        ...

    def answered(self, replica: Replica, send: Send, response: Any | Failure) -> bool:
        """A piece, or an error: then the log is fetched again. Tells whether the answer was one."""
        ...

    def drop(self) -> None:
        """Forget the pieces that have come."""
        ...
