"""The interface to `snapshots`: serves FetchSnapshot, and fetches snapshots (KIP-630).

Serving: `handle` answers; `fetch_handler.leader_code` checks the epoch, and
`fetch_handler.record_fetch` records a voter's fetch. Fetching: `begin` when the leader names a
snapshot, `request` for each part, `answered` with each part; once the snapshot is complete in the
store, `follower_actions.snapshot_fetched` moves the log. `drop` on every change of state.
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
        """A part of a snapshot, or an error."""
        ...

    def begin(self, replica: KafkaRaftClient, id: OffsetAndEpoch) -> None:
        """The leader named this snapshot: starts to fetch it."""
        ...

    def request(self, replica: KafkaRaftClient, id: OffsetAndEpoch) -> Message:
        """The request for the next part."""
        ...

    def answered(self, replica: KafkaRaftClient, send: OutboundRequest, response: Any | RequestFailure) -> bool:
        """Handles a part, or an error, after which the log is fetched again. Returns whether the
        response was usable.
        """
        ...

    def drop(self) -> None:
        """Forgets the fetched parts."""
        ...
