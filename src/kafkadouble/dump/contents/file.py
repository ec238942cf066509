"""Reads a file piece by piece, and limits the size of files that must be read whole. Only regular
files are read: reading a FIFO could wait for ever."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import TracebackType

from kafkadouble.server.log.formats import BadFile

LARGEST_WHOLE = 1 << 28
"""The largest size in bytes of a file that is read whole: checkpoints and producer snapshots. A
file of this size has ten million partitions, or six million producers."""


class FileBytes:
    """The bytes of a file, read by slices, up to the size that it had when it was opened. A context
    manager. Raises BadFile if `path` is no regular file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not stat.S_ISREG(path.stat().st_mode):
            raise BadFile("it is no regular file", file=str(path), offset=0)
        self._file = path.open("rb", buffering=0)
        self._size = os.fstat(self._file.fileno()).st_size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice, /) -> bytes:
        start, stop, _ = part.indices(self._size)
        self._file.seek(start)
        parts: list[bytes] = []
        while start < stop and (data := self._file.read(stop - start)):
            parts.append(data)
            start += len(data)
        return b"".join(parts)

    def whole(self) -> bytes:
        """All bytes of the file. Raises BadFile when the file is larger than `LARGEST_WHOLE`."""
        if self._size > LARGEST_WHOLE:
            raise BadFile(f"{self._size} bytes are too many for such a file", file=str(self.path), offset=LARGEST_WHOLE)
        return self[: self._size]

    def __enter__(self) -> FileBytes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
