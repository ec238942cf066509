"""A log directory as DescribeLogDirs reports it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from ..configs.settings import Settings
from ..log.log import PartitionLog

UNKNOWN_SPACE = -1, -1

ALL_DIRS = "*"
"""The value of `cordoned.log.dirs` for all directories."""


class LogDirDescription(NamedTuple):
    """`path` is absolute, None in memory; `logs` by topic and partition, without the metadata log,
    and empty for a directory that has `failed`; `futures` are its future replicas. `space` is the
    size of its volume and the usable part of it in bytes, each -1 when unknown; None when the
    system does not tell."""

    path: str | None
    logs: Mapping[tuple[str, int], PartitionLog]
    space: tuple[int, int] | None = UNKNOWN_SPACE
    failed: bool = False
    futures: Mapping[tuple[str, int], PartitionLog] = MappingProxyType({})


def described_dirs(dirs: Iterable[LogDirDescription], settings: Settings) -> dict[str, LogDirDescription]:
    """The directories by their absolute path. That of a node in memory has the first path in the
    settings."""
    first = (settings.list("log.dirs") if settings["log.dirs"] else settings.list("log.dir"))[0]
    return {each.path or os.path.abspath(first): each for each in dirs}


def cordoned_dirs(settings: Settings, paths: Collection[str]) -> Collection[str]:
    """The cordoned directories among these (KIP-1066)."""
    cordoned = settings.list("cordoned.log.dirs")
    return paths if ALL_DIRS in cordoned else {os.path.abspath(each) for each in cordoned}.intersection(paths)
