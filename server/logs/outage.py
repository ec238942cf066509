"""The failure of a log directory, and the partitions in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kafkadouble.messages.uuid import Uuid

from ..log.files.errors import DiskFailure


class Outage(NamedTuple):
    """A log directory that is not used any more; with `is_partial`, only the folder of one
    partition in it. `path` and `why` are for messages; `partitions` are those in the directory, by
    topic and index. With `metadata` it has the metadata log, without which a node cannot go on."""

    directory: Uuid
    path: str
    why: DiskFailure
    partitions: Sequence[tuple[str, int]]
    metadata: bool
    is_partial: bool = False
    futures: Sequence[tuple[str, int]] = ()
    """The partitions that had a future replica there, which is lost."""
