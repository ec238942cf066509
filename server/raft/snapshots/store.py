"""Where snapshots are kept: whole ones by id, and parts that are being written or fetched (KIP-630).

    store.create(id) -> Part, or None when there is one    part.append(bytes)*  part.freeze() | part.abandon()
    store.open(id) -> SnapshotReader, or None              until it is closed, its bytes stay

Rules for every store. A snapshot is there as a whole or not at all: what a part holds is nobody's before it is frozen, and of a part that was
not, nothing is found after a restart. A snapshot never changes. One that is deleted is gone from the list at once; its room is given back
later, and not while a reader reads it. `memory_store` and `file_store` are the two.
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
    """A snapshot that is not complete. Bytes can be read back, to see whether they are a snapshot."""

    @property
    def id(self) -> OffsetAndEpoch: ...

    @property
    def size(self) -> int:
        """Bytes so far."""
        ...

    def read(self, position: int, size: int) -> bytes: ...

    def append(self, data: Buffer) -> None: ...

    def flushing(self) -> Callable[[], None] | None:
        """A flush of what it holds, for any thread, so that `freeze` need not wait for it; None where nothing is flushed. DiskFailure."""
        ...

    def freeze(self) -> None:
        """It is complete: it is there from now on, and would outlive the machine."""
        ...

    def abandon(self) -> None:
        """It never was; nothing happens when it is frozen."""
        ...


class SnapshotStore(Protocol):
    """The snapshots of one log."""

    def ids(self) -> Sequence[OffsetAndEpoch]:
        """Those that are complete, oldest first."""
        ...

    def create(self, id: OffsetAndEpoch) -> RawSnapshotWriter | None:
        """A new part; None when there is such a snapshot already."""
        ...

    def open(self, id: OffsetAndEpoch) -> RecordsSnapshotReader | None:
        """A reader, to be closed; None when there is no such snapshot."""
        ...

    def size(self, id: OffsetAndEpoch) -> int:
        """In bytes; 0 of one that is not there."""
        ...

    def timestamp(self, id: OffsetAndEpoch) -> int | None:
        """When the last record was appended that it contains (ms); None when that cannot be told."""
        ...

    def voters_of(self, id: OffsetAndEpoch) -> tuple[VoterSet | None, int]:
        """The voters that its header batch names, if it does, and the `kraft.version`. BadFile when it cannot be read."""
        ...

    def delete(self, id: OffsetAndEpoch, now: int) -> None:
        """It is gone; nothing happens when it was not there."""
        ...

    def tick(self, now: int) -> None:
        """Give back the room of what was deleted long enough ago."""
        ...
