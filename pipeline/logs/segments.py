"""The segments of a partition's folder.

Files with the suffix `.deleted` or `.cleaned` are ignored. A `.swap` file is finished by
compaction, and about to replace others: it counts when the file of its name is gone, unless a file
of the same round is still `.cleaned` (as in Kafka's LogLoader).
"""

from __future__ import annotations

import os
from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple

from kafkadouble.server.log.formats import names

from .finding import Folder
from .log_filter import FAR


class SegmentListing(NamedTuple):
    """A file of batches. `base_offset` is None when the name contains none. `next_offset` is the
    base offset of the next segment, or the end of the log. `last`: it is the last segment, so it
    may end inside a batch."""

    path: str
    name: str
    replica: str
    topic: str | None
    partition: int | None
    size: int
    inode: int
    base_offset: int | None = None
    next_offset: int = FAR
    last: bool = False

    def beside(self, suffix: str) -> Path:
        """The file of the same segment with another suffix."""
        return Path(self.path.removesuffix(names.LOG) + suffix)


def segments_of(folder: Folder) -> list[SegmentListing]:
    """The whole log in order, whatever files were requested, without metadata snapshots."""
    named = _log_files(_listed(folder.path))
    found = [segment for _, name in sorted(named.items()) if (segment := _segment(folder, name)) is not None]
    bases = [segment.base_offset or 0 for segment in found]
    ends = [*bases[1:], FAR] if found else []
    return [segment._replace(next_offset=end, last=end == FAR) for segment, end in zip(found, ends, strict=True)]


def _log_files(listed: list[str]) -> dict[int, str]:
    """Base offset -> the name of the file with the segment's batches."""
    parsed = [(*found, name) for name in listed if (found := names.parse_file(name)) is not None]
    unfinished = min((base for base, kind, _ in parsed if kind == names.LOG + names.CLEANED), default=FAR)
    swapped = {base: name for base, kind, name in parsed if kind == names.LOG + names.SWAP and base < unfinished}
    return swapped | {base: name for base, kind, name in parsed if kind == names.LOG}


def requested(folder: Folder, log: list[SegmentListing]) -> list[SegmentListing]:
    """The requested segments: of the log, and files with other names."""
    if folder.files is None:
        return log
    by_name = {segment.name: segment for segment in log}
    found = [by_name.get(name) or _segment(folder, name) for name in folder.files]
    return [
        segment if segment in log else segment._replace(last=not segment.name.endswith(names.CHECKPOINT))
        for segment in found
        if segment is not None
    ]


def reaching(log: list[SegmentListing], offset: int) -> list[SegmentListing]:
    """The segments that may have this offset, or later ones."""
    first = bisect_right(log, offset, key=lambda segment: segment.base_offset or 0) - 1
    return log[max(first, 0) :]


def _listed(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except FileNotFoundError:
        return []


def _segment(folder: Folder, name: str) -> SegmentListing | None:
    """The segment; None when its file is gone since it was listed."""
    path = os.path.join(folder.path, name)
    try:
        state = os.stat(path)
    except FileNotFoundError:
        return None
    parsed = names.parse_file(name)
    base = parsed[0] if parsed else None
    return SegmentListing(path, name, folder.replica, folder.topic, folder.partition, state.st_size, state.st_ino, base)
