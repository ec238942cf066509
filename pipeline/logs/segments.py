"""The segments of a partition's folder.

Files that end in `.deleted` or `.cleaned` are none. A `.swap` is one that compaction finished, and is about to put, or would have put, into the
place of others: it counts when the one of its name is gone, unless it belongs to a round of which something is `.cleaned` yet (as Kafka's
LogLoader has it).
"""

from __future__ import annotations

import os
from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple

from kafkadouble.server.log.formats import names

from .finding import Folder
from .narrowing import FAR


class SegmentListing(NamedTuple):
    """A file of batches. `base_offset` is None where the name tells none; before `next_offset` the next segment begins, or the log ends.
    `last`: nothing follows it, so it may end anywhere."""

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
    """The whole log in its order, whatever files were asked for. Snapshots of the metadata are no part of it."""
    named = _log_files(_listed(folder.path))
    found = [segment for _, name in sorted(named.items()) if (segment := _segment(folder, name)) is not None]
    bases = [segment.base_offset or 0 for segment in found]
    ends = [*bases[1:], FAR] if found else []
    return [segment._replace(next_offset=end, last=end == FAR) for segment, end in zip(found, ends, strict=True)]


def _log_files(listed: list[str]) -> dict[int, str]:
    """Base offset to the name of the file that has the segment's batches."""
    parsed = [(*found, name) for name in listed if (found := names.parse_file(name)) is not None]
    unfinished = min((base for base, kind, _ in parsed if kind == names.LOG + names.CLEANED), default=FAR)
    swapped = {base: name for base, kind, name in parsed if kind == names.LOG + names.SWAP and base < unfinished}
    return swapped | {base: name for base, kind, name in parsed if kind == names.LOG}


def asked(folder: Folder, log: list[SegmentListing]) -> list[SegmentListing]:
    """Those that were asked for: of the log, and files of other names."""
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
    """Those that may have this offset, or later ones."""
    first = bisect_right(log, offset, key=lambda segment: segment.base_offset or 0) - 1
    return log[max(first, 0) :]


def _listed(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except FileNotFoundError:
        return []


def _segment(folder: Folder, name: str) -> SegmentListing | None:
    """None when it has gone since it was listed."""
    path = os.path.join(folder.path, name)
    try:
        state = os.stat(path)
    except FileNotFoundError:
        return None
    parsed = names.parse_file(name)
    base = parsed[0] if parsed else None
    return SegmentListing(path, name, folder.replica, folder.topic, folder.partition, state.st_size, state.st_ino, base)
