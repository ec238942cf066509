"""Repairs the folder of a partition after an interruption: files that are marked as deleted,
cleaned or to be swapped in (as Kafka's LogLoader).

`.deleted` files are removed. A `.cleaned` file belongs to a compaction that did not finish: it is
removed, and so is every `.swap` with the same or a larger base offset. Any other `.swap` was
finished: it replaces the segments that it was made from. An index without its segment is removed
too, after the check of `loss`: a deletion was interrupted.
"""

from __future__ import annotations

from kafkadouble.wire.client_log import ClientLog

from ..formats.names import CLEANED, DELETED, INDEX, LOG, SNAPSHOT, SWAP, TIME_INDEX, TXN_INDEX, parse_file
from .disk import Disk
from .indexed import IndexedLog

_LOGGER = ClientLog("kafkadouble.server.log")


def put_in_order(disk: Disk, folder: str) -> list[tuple[int, str]]:
    """Finishes or undoes what was interrupted. Returns the base offset and the kind of every file
    that is left."""
    found = [parsed for parsed in map(parse_file, sorted(disk.names(folder))) if parsed]
    cleaned = min((base for base, kind in found if kind.endswith(CLEANED)), default=None)
    swapped = [(base, kind) for base, kind in found if kind.endswith(SWAP)]
    unfinished = [each for each in swapped if cleaned is not None and each[0] >= cleaned]
    for base, kind in found:
        if kind.endswith((DELETED, CLEANED)) or (base, kind) in unfinished:
            _remove(disk, folder, base, kind)
    whole = [each for each in swapped if each not in unfinished]
    if whole:
        _swap_in(disk, folder, found, whole)
    return [parsed for parsed in map(parse_file, sorted(disk.names(folder))) if parsed]


def remove_orphans(disk: Disk, folder: str, files: list[tuple[int, str]]) -> None:
    """Removes the indexes of missing segments."""
    bases = {base for base, kind in files if kind == LOG}
    for base, kind in files:
        if kind in (INDEX, TIME_INDEX, TXN_INDEX) and base not in bases:
            _remove(disk, folder, base, kind)


def _swap_in(disk: Disk, folder: str, found: list[tuple[int, str]], swapped: list[tuple[int, str]]) -> None:
    logs = [base for base, kind in swapped if kind == LOG + SWAP]
    if logs:
        start, end = min(logs), max(_end(disk, folder, base) for base in logs)
        for base, kind in found:
            replaced = start <= base < end and kind != SNAPSHOT
            if replaced and not kind.endswith((SWAP, DELETED, CLEANED)):
                _remove(disk, folder, base, kind)
    for base, kind in swapped:
        path = f"{folder}/{base:020d}{kind}"
        _LOGGER.warning("%s was finished before an interruption: it replaces its segments", path)
        disk.rename(path, path.removesuffix(SWAP))
    disk.flush_folder(folder)


def _end(disk: Disk, folder: str, base: int) -> int:
    """The end offset of the segment that is marked `.swap`. It always covers its base offset, even
    without a record."""
    last = base
    for place in IndexedLog(disk, folder, base, mark=SWAP).batch_positions():
        last = place.last_offset
    return last + 1


def _remove(disk: Disk, folder: str, base: int, kind: str) -> None:
    path = f"{folder}/{base:020d}{kind}"
    _LOGGER.info("%s was left by an interruption: it is removed", path)
    disk.remove(path)
