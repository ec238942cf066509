"""A log directory as admin clients are told of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..log.log import PartitionLog

NOBODY_KNOWS = -1, -1


class Place(NamedTuple):
    """`path` is absolute, None in memory; `logs` by topic and partition, without the metadata's, none where the directory has `failed`.
    `space` are the bytes of its volume and those of them that can still be used, -1 where there is none; None where the system refuses to
    say."""

    path: str | None
    logs: Mapping[tuple[str, int], PartitionLog]
    space: tuple[int, int] | None = NOBODY_KNOWS
    failed: bool = False
