"""A segment as an open file, of which stretches are read.

A file is told from another one of the same name by its inode: compaction puts new files into the places of old ones. Kafka keeps what it
deletes for a minute under another name, which is followed.
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
    """A segment is not there any more, or another one is in its place: retention or compaction was faster."""


class SegmentFile:
    """The bytes of a segment up to `end`, by stretches; as many as are there, when the file has become shorter."""

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
    """The file that was planned. Vanished when it is gone, or another one has its name."""
    with _found(segment) as file:
        yield SegmentFile(file, segment.size if end is None else end)


def _found(segment: SegmentListing) -> FileIO:
    """Under its name, or under the one that it got since: deleted, or swapped in."""
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
    raise Vanished(f"{segment.path} is gone: it was deleted after the reading had been planned")
