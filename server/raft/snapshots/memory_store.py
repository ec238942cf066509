"""Snapshots in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.wire.checksum import Buffer

from ...log.offset_and_epoch import OffsetAndEpoch
from ..voters import VoterSet

if TYPE_CHECKING:
    from .snapshot_reader import RecordsSnapshotReader


class MemoryRawSnapshotWriter:
    """Writes one snapshot of a MemorySnapshotStore."""

    def __init__(self, store: MemorySnapshotStore, id: OffsetAndEpoch) -> None:
        self._store, self.id = store, id
        self._data = bytearray()

    @property
    def size(self) -> int:
        return len(self._data)

    def read(self, position: int, size: int) -> bytes:
        return bytes(self._data[position : position + size])

    def append(self, data: Buffer) -> None:
        self._data += data

    def flushing(self) -> None:
        return None

    def freeze(self) -> None:
        self._store.add(self.id, bytes(self._data))

    def abandon(self) -> None: ...

    def __repr__(self) -> str:
        return f"part of the snapshot up to {self.id!r}, {self.size} bytes"


class MemorySnapshotStore:
    """A SnapshotStore. Deleted snapshots are forgotten; a reader holds its own bytes."""

    def __init__(self) -> None:
        self._snapshots: dict[OffsetAndEpoch, bytes] = {}

    def add(self, id: OffsetAndEpoch, data: bytes) -> None:
        """Adds a complete snapshot."""
        self._snapshots[id] = data

    def bytes_of(self, id: OffsetAndEpoch) -> bytes:
        """The bytes of an existing snapshot."""
        return self._snapshots[id]

    def ids(self) -> list[OffsetAndEpoch]:
        return sorted(self._snapshots)

    def create(self, id: OffsetAndEpoch) -> MemoryRawSnapshotWriter | None:
        return None if id in self._snapshots else MemoryRawSnapshotWriter(self, id)

    def open(self, id: OffsetAndEpoch) -> RecordsSnapshotReader | None:
        snapshot = self._snapshots.get(id)
        if snapshot is None:
            return None
        # most nodes read no snapshot
        from .snapshot_reader import BytesSource, RecordsSnapshotReader

        return RecordsSnapshotReader(id, BytesSource(snapshot))

    def size(self, id: OffsetAndEpoch) -> int:
        snapshot = self._snapshots.get(id)
        return 0 if snapshot is None else len(snapshot)

    def timestamp(self, id: OffsetAndEpoch) -> int | None:
        reader = self.open(id)
        if reader is None:
            return None
        from ...log.formats.errors import BadFile

        try:
            return reader.head.timestamp
        except BadFile:
            return None

    def voters_of(self, id: OffsetAndEpoch) -> tuple[VoterSet | None, int]:
        reader = self.open(id)
        return (None, 0) if reader is None else reader.voters

    def delete(self, id: OffsetAndEpoch, now: int) -> None:
        self._snapshots.pop(id, None)

    def tick(self, now: int) -> None: ...

    def __repr__(self) -> str:
        return f"{len(self._snapshots)} snapshots in memory"
