"""The data that a log directory loses in a power failure if flushes were reported but not done."""

from __future__ import annotations

from collections.abc import Mapping

from ..formats.names import LOG
from .disk import Disk


def drop_lost(disk: Disk, lost: Mapping[str, int]) -> None:
    """Shortens each file to the bytes that were flushed. `lost` has the paths relative to the disk.
    Of a segment of which nothing was flushed only the first of a partition stays, empty. No log of
    the disk may be open."""
    for path, size in sorted(lost.items(), reverse=True):
        folder, _, name = path.rpartition("/")
        if not disk.exists(path):
            continue
        logs = sorted(name for name in disk.names(folder) if name.endswith(LOG))
        if size or name == logs[0]:
            file = disk.open(path)
            file.truncate(size)
            file.close()
        else:
            for each in disk.names(folder):
                if each.startswith(name.removesuffix(LOG)):
                    disk.remove(f"{folder}/{each}")
