"""The offset checkpoints of a log directory: recovery points, high watermarks, log start offsets,
cleaner offsets (`names.OFFSET_CHECKPOINTS`).

A line is a topic, a partition and its offset.
"""

from __future__ import annotations

from collections.abc import Mapping

from .checkpoint_text import number, read_lines, write_lines
from .errors import BadFile


def read(data: bytes, file: str = "") -> dict[tuple[str, int], int]:
    """Topic and partition -> offset. BadFile also for a partition that appears twice."""
    found: dict[tuple[str, int], int] = {}
    for topic, index, offset in read_lines(data, file, words=3):
        partition = (topic.text, number(index, 0, 2**31 - 1, file, "partition"))
        if partition in found:
            raise BadFile(f"{topic.text}-{partition[1]} for the second time", file=file, offset=topic.at)
        found[partition] = number(offset, 0, 2**63 - 1, file, "offset")
    return found


def write(offsets: Mapping[tuple[str, int], int]) -> bytes:
    """A whole file, in the order of the mapping."""
    return write_lines(f"{topic} {index} {offset}" for (topic, index), offset in offsets.items())
