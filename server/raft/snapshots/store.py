"""The interface of snapshot stores: complete snapshots by id, and snapshots in progress (KIP-630).

    store.create(id) -> RawSnapshotWriter, or None if it exists
    writer.append(bytes)*  writer.freeze() | writer.abandon()
    store.open(id) -> RecordsSnapshotReader, or None; its bytes stay until it is closed

A snapshot exists completely or not at all: unfrozen bytes are invisible, and gone after a restart.
A snapshot never changes. A deleted one leaves the list at once; its bytes are removed later, after
the last reader is closed. `memory_store` and `file_store` implement this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from kafkadouble.wire.checksum import Buffer

from ...log.offset_and_epoch import OffsetAndEpoch
from ..voters import VoterSet

if TYPE_CHECKING:
    from .snapshot_reader import RecordsSnapshotReader

DELETE_DELAY_MS = 60_000
"""How long (ms) the file of a deleted snapshot stays, as in Kafka."""


class RawSnapshotWriter(Protocol):
    """A snapshot in progress. Its bytes can be read back for verification."""

    @property
    def id(self) -> OffsetAndEpoch: ...

    @property
    def size(self) -> int:
        """The number of bytes so far."""
        ...

    def read(self, position: int, size: int) -> bytes: ...

    def append(self, data: Buffer) -> None: ...

    def flushing(self) -> Callable[[], None] | None:
        """A flush for any thread, so that `freeze` need not wait for it; None if nothing needs a
        flush. DiskFailure.
        """
        ...

    def freeze(self) -> None:
        """Completes the snapshot: it exists from now on, and is durable."""
        ...

    def abandon(self) -> None:
        """Discards the snapshot; no effect on a frozen one."""
        ...


class SnapshotStore(Protocol):
    """The snapshots of one log."""

    def ids(self) -> Sequence[OffsetAndEpoch]:
        """The complete snapshots, oldest first."""
        ...

    def create(self, id: OffsetAndEpoch) -> RawSnapshotWriter | None:
        """A new snapshot; None if it exists."""
        ...

    def open(self, id: OffsetAndEpoch) -> RecordsSnapshotReader | None:
        """A reader, to be closed; None if there is no such snapshot."""
        ...

    def size(self, id: OffsetAndEpoch) -> int:
        """In bytes; 0 without the snapshot."""
        ...

    def timestamp(self, id: OffsetAndEpoch) -> int | None:
        """The append time (ms) of the last record in it; None if that cannot be read."""
        ...

    def voters_of(self, id: OffsetAndEpoch) -> tuple[VoterSet | None, int]:
        """The voters in its header batch, if any, and the `kraft.version`. BadFile if it cannot be
        read.
        """
        ...

    def delete(self, id: OffsetAndEpoch, now: int) -> None:
        """Deletes the snapshot, if it exists."""
        ...

    def tick(self, now: int) -> None:
        """Removes the bytes of snapshots that were deleted long enough ago."""
        ...
