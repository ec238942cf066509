"""Snapshots in files with Kafka's names, in the folder of the metadata log (KIP-630).

`<offset>-<epoch>.checkpoint` is a complete snapshot. While it is written or fetched it is
`<offset>-<epoch>-<number>.checkpoint.part`; it is flushed before it is renamed, and the folder
after. A deleted snapshot is `....checkpoint.deleted` until its file is removed. `.part` and
`.deleted` files found at the start are left over, and removed.
"""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.client_log import ClientLog

from ...log.files.disk import Disk, File, FlushStep
from ...log.files.errors import DiskFailure
from ...log.formats.errors import BadFile
from ...log.formats.names import CHECKPOINT, DELETED, PART, checkpoint_name, parse_checkpoint
from ...log.offset_and_epoch import OffsetAndEpoch
from ..voters import VoterSet
from .store import DELETE_DELAY_MS

if TYPE_CHECKING:
    from .snapshot_reader import BytesSource, RecordsSnapshotReader, SnapshotSource

_LOGGER = ClientLog("kafkadouble.server.raft")
_LEFT_OVER = rf"[0-9]{{20}}-[0-9]{{10}}.*{re.escape(CHECKPOINT)}({re.escape(PART)}|{re.escape(DELETED)})\Z"


class FileRawSnapshotWriter:
    """Writes one snapshot of a FileSnapshotStore."""

    def __init__(self, store: FileSnapshotStore, id: OffsetAndEpoch, path: str) -> None:
        self._store, self.id, self._path = store, id, path
        self._file: File | None = store.disk.open(path)
        self.size = 0

    @property
    def _open(self) -> File:
        assert self._file is not None, "a part that was frozen or abandoned"
        return self._file

    def read(self, position: int, size: int) -> bytes:
        return self._open.read(position, size)

    def append(self, data: Buffer) -> None:
        self._open.append([data])
        self.size += len(data)

    def flushing(self) -> FlushStep:
        return self._open.flushing()

    def freeze(self) -> None:
        file = self._open
        file.flush()
        path = self._store.path_of(self.id)
        file.rename(path)
        self._store.disk.flush_folder(self._store.folder)
        self._store.add(_SnapshotFile(self.id, path, file))
        self._file = None

    def abandon(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            file.close()
            with suppress(DiskFailure):  # then the next start removes it
                self._store.disk.remove(self._path)

    def __repr__(self) -> str:
        return f"part of the snapshot up to {self.id!r}, {self._path}"


class _SnapshotFile:
    """A snapshot file. `file` is None until it is used; a read-only file is kept in memory
    instead.
    """

    __slots__ = ("due", "file", "id", "path", "readers", "whole")

    def __init__(self, id: OffsetAndEpoch, path: str, file: File | None = None) -> None:
        self.id, self.path, self.file = id, path, file
        self.whole: BytesSource | None = None
        self.readers = 0
        self.due = 0  # when a deleted file may be removed

    def source(self, disk: Disk) -> SnapshotSource:
        if self.file is None and self.whole is None:
            try:
                self.file = disk.open(self.path)
            except DiskFailure:  # Kafka leaves read-only snapshots
                from .snapshot_reader import BytesSource

                self.whole = BytesSource(disk.read_whole(self.path))
        source: SnapshotSource | None = self.whole if self.file is None else self.file
        assert source is not None
        return source

    def rename(self, disk: Disk, path: str) -> None:
        if self.file is None:
            disk.rename(self.path, path)
        else:
            self.file.rename(path)
        self.path = path

    def remove(self, disk: Disk) -> None:
        if self.file is not None:
            self.file.close()
        disk.remove(self.path)


class FileSnapshotStore:
    """A SnapshotStore in the folder `folder` of `disk`. The file of a deleted snapshot stays for
    `delete_delay` ms.
    """

    def __init__(self, disk: Disk, folder: str, delete_delay: int = DELETE_DELAY_MS) -> None:
        self.disk, self.folder, self._delay = disk, folder, delete_delay
        self._snapshots: dict[OffsetAndEpoch, _SnapshotFile] = {}
        self._deleted: list[_SnapshotFile] = []
        self._numbers = count(1)
        for name in sorted(disk.names(folder)):
            path, id = f"{self.folder}/{name}", parse_checkpoint(name)
            if id is not None:
                self._snapshots[id] = _SnapshotFile(id, path)
            elif name.endswith((PART, DELETED)) and re.match(_LEFT_OVER, name):
                _LOGGER.info("%s is left over: it is removed", path)
                self.disk.remove(path)

    def path_of(self, id: OffsetAndEpoch) -> str:
        return f"{self.folder}/{checkpoint_name(id)}"

    def add(self, snapshot: _SnapshotFile) -> None:
        """Adds a complete snapshot."""
        self._snapshots[snapshot.id] = snapshot

    def ids(self) -> list[OffsetAndEpoch]:
        return sorted(self._snapshots)

    def create(self, id: OffsetAndEpoch) -> FileRawSnapshotWriter | None:
        if id in self._snapshots:
            return None
        stem = checkpoint_name(id).removesuffix(CHECKPOINT)
        return FileRawSnapshotWriter(self, id, f"{self.folder}/{stem}-{next(self._numbers)}{CHECKPOINT}{PART}")

    def open(self, id: OffsetAndEpoch) -> RecordsSnapshotReader | None:
        snapshot = self._snapshots.get(id)
        if snapshot is None:
            return None
        from .snapshot_reader import RecordsSnapshotReader  # most nodes read no snapshot

        source = snapshot.source(self.disk)
        snapshot.readers += 1

        def closed() -> None:
            snapshot.readers -= 1

        return RecordsSnapshotReader(
            id, source, snapshot.path, closed, None if snapshot.file is None else snapshot.file.slice
        )

    def size(self, id: OffsetAndEpoch) -> int:
        return self.disk.size(self.path_of(id)) if id in self._snapshots else 0

    def timestamp(self, id: OffsetAndEpoch) -> int | None:
        reader = self.open(id)
        if reader is None:
            return None
        with reader:
            try:
                return reader.head.timestamp
            except BadFile:
                return None

    def voters_of(self, id: OffsetAndEpoch) -> tuple[VoterSet | None, int]:
        reader = self.open(id)
        if reader is None:
            return None, 0
        with reader:
            return reader.voters

    def delete(self, id: OffsetAndEpoch, now: int) -> None:
        snapshot = self._snapshots.pop(id, None)
        if snapshot is not None:
            snapshot.rename(self.disk, self.path_of(id) + DELETED)
            snapshot.due = now + self._delay
            self._deleted.append(snapshot)

    def tick(self, now: int) -> None:
        due = [snapshot for snapshot in self._deleted if snapshot.due <= now and not snapshot.readers]
        for snapshot in due:
            self._deleted.remove(snapshot)
            snapshot.remove(self.disk)

    def __repr__(self) -> str:
        return f"{len(self._snapshots)} snapshots in {self.folder}"
