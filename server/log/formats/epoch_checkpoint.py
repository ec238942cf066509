"""`leader-epoch-checkpoint`: where each leader epoch of a log begins (KIP-101). A line is an epoch
and the offset of its first record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..offset_and_epoch import UNDEFINED, OffsetAndEpoch
from .checkpoint_text import number, read_lines, write_lines
from .errors import BadFile


def read(data: bytes, file: str = "") -> list[OffsetAndEpoch]:
    """The epochs as they are in the file. `LeaderEpochCache` drops entries that do not ascend."""
    return [entry for entry, _ in _entries(data, file)]


def check(data: bytes, file: str = "") -> list[OffsetAndEpoch]:
    """The epochs. BadFile also when epochs or offsets do not ascend, which Kafka never writes."""
    before = UNDEFINED
    for entry, at in _entries(data, file):
        if entry.epoch <= before.epoch or entry.offset <= before.offset:
            raise BadFile(f"epoch {entry.epoch} from {entry.offset} after {before!r}", file=file, offset=at)
        before = entry
    return read(data, file)


def _entries(data: bytes, file: str) -> Iterator[tuple[OffsetAndEpoch, int]]:
    """The entries, each with the position of its line."""
    for epoch, start in read_lines(data, file, words=2):
        offset = number(start, 0, 2**63 - 1, file, "start offset")
        yield OffsetAndEpoch(offset, number(epoch, 0, 2**31 - 1, file, "leader epoch")), epoch.at


def write(entries: Iterable[OffsetAndEpoch]) -> bytes:
    """A whole file."""
    return write_lines(f"{entry.epoch} {entry.offset}" for entry in entries)
