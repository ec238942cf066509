"""A log directory that has failed, and what goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kafkadouble.messages.uuid import Uuid

from ..log.files.errors import DiskFailure


class Outage(NamedTuple):
    """A directory that is used no longer; with `is_partial` only the folder of one partition in it. `path` and `why` are for people;
    `partitions` lay there, by topic and index. With `metadata` it had the log of the cluster's metadata, without which a node cannot go on."""

    directory: Uuid
    path: str
    why: DiskFailure
    partitions: Sequence[tuple[str, int]]
    metadata: bool
    is_partial: bool = False
