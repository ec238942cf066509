"""A log directory as DescribeLogDirs reports it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..log.log import PartitionLog

UNKNOWN_SPACE = -1, -1


class LogDirDescription(NamedTuple):
    """`path` is absolute, None in memory; `logs` by topic and partition, without the metadata log,
    and empty for a directory that has `failed`. `space` is the size of its volume and the usable
    part of it in bytes, each -1 when unknown; None when the system does not tell."""

    path: str | None
    logs: Mapping[tuple[str, int], PartitionLog]
    space: tuple[int, int] | None = UNKNOWN_SPACE
    failed: bool = False
