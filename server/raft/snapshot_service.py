"""The seam to `snapshots`: FetchSnapshot served, and fetched (KIP-630).

Serving: `handle` answers; `fetching.leader_code` says whether this replica leads in the epoch that was named, and `fetching.heard_of` notes
that a voter is there. Fetching: `begin` when a leader names a snapshot, `request` for each next piece, `answered` with each piece; when it
is whole, it stands in the store and `following.snapshot_taken` moves the log there. `drop` whenever this replica turns to somebody else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from kafkadouble.messages.message import Message

from ..log.offset_and_epoch import OffsetAndEpoch
from .messages import InboundRequest
from .request_manager import OutboundRequest, RequestFailure

if TYPE_CHECKING:
    from .kafka_raft_client import KafkaRaftClient


class SnapshotService(Protocol):
    """Both sides of FetchSnapshot."""

    def handle(self, replica: KafkaRaftClient, request: InboundRequest) -> Message:
        """A piece of a snapshot, or the error that says why not."""
        ...

    def begin(self, replica: KafkaRaftClient, id: OffsetAndEpoch) -> None:
        """The leader has this snapshot for us: start with nothing of it."""
        ...

    def request(self, replica: KafkaRaftClient, id: OffsetAndEpoch) -> Message:
        """The next piece."""
        ...

    def answered(self, replica: KafkaRaftClient, send: OutboundRequest, response: Any | RequestFailure) -> bool:
        """A piece, or an error: then the log is fetched again. Tells whether the answer was one."""
        ...

    def drop(self) -> None:
        """Forget the pieces that have come."""
        ...
