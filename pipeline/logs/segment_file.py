"""A segment as an open file, which is read in parts.

The inode identifies a file, because compaction replaces files under the same name. Kafka keeps
deleted files for a minute under another name, which is tried, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO

from kafkadouble.server.log.formats import names
from kafkadouble.wire.errors import UsageError

from .segments import SegmentListing


class Vanished(UsageError):
    """A segment was deleted or replaced during the read, by retention or compaction."""


class SegmentFile:
    """The bytes of a segment up to `end`, in parts; fewer when the file was truncated."""

    def __init__(self, file: FileIO, end: int) -> None:
        self._file, self._end = file, min(end, os.fstat(file.fileno()).st_size)

    def __len__(self) -> int:
        return self._end

    def __getitem__(self, place: slice, /) -> bytes:
        start, stop, _ = place.indices(self._end)
        self._file.seek(start)
        found = self._file.read(max(stop - start, 0)) or b""
        while len(found) < stop - start and (more := self._file.read(stop - start - len(found))):
            found += more
        return found


@contextmanager
def opened(segment: SegmentListing, end: int | None = None) -> Iterator[SegmentFile]:
    """Opens the file that was planned. Raises Vanished when it is gone, or another file has its
    name."""
    with _found(segment) as file:
        yield SegmentFile(file, segment.size if end is None else end)


def _found(segment: SegmentListing) -> FileIO:
    """The file under its name, or under its later name: deleted, or swapped in."""
    replaced = False
    for path in (segment.path, segment.path + names.DELETED, segment.path.removesuffix(names.SWAP)):
        try:
            file = FileIO(path)
        except FileNotFoundError:
            continue
        if os.fstat(file.fileno()).st_ino == segment.inode:
            return file
        file.close()
        replaced = True
    if replaced:
        raise Vanished(f"{segment.path} is another file now: it was compacted after the reading had been planned")
    raise Vanished(f"{segment.path} does not exist: it was deleted after the reading had been planned")
