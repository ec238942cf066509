"""`leader-epoch-checkpoint`: where each leader epoch of a log begins (KIP-101). A line is an epoch and the offset of its first record."""

from __future__ import annotations

from collections.abc import Iterable

from ..offset_and_epoch import OffsetAndEpoch
from .checkpoint_text import number, read_lines, write_lines


def read(data: bytes, file: str = "") -> list[OffsetAndEpoch]:
    """The epochs as the file has them: `LeaderEpochCache` drops what does not ascend."""
    return [
        OffsetAndEpoch(
            number(start, 0, 2**63 - 1, file, "start offset"),
            number(epoch, 0, 2**31 - 1, file, "leader epoch"),
        )
        for epoch, start in read_lines(data, file, words=2)
    ]


def write(entries: Iterable[OffsetAndEpoch]) -> bytes:
    """A whole file."""
    return write_lines(f"{entry.epoch} {entry.offset}" for entry in entries)
