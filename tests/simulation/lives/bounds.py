"""How much may lie in a log directory when nothing has been written for a while.

Retention, compaction and snapshots are bounds, on every replica.
"""

from __future__ import annotations

from kafkadouble.server.log.formats import names
from kafkadouble.server.metadata.internal_topics import METADATA_TOPIC
from kafkadouble.server.raft.snapshots.store import DELETE_DELAY_MS
from tests.server.log.files.lossy_disk import LossyDisk

from ..world import Broken
from . import directories
from .shape import NO_SEGMENT, RETENTION, SEGMENT, SNAPSHOTS_CHECK_MS, LivesShape

REST_MS = SNAPSHOTS_CHECK_MS + 10_000
"""Until everything that has to go has been let go."""

GONE_WITHIN_MS = DELETE_DELAY_MS + SNAPSHOTS_CHECK_MS + 10_000
"""Until the files of what was let go are removed: after their delay, by the next look at them."""

LARGEST = 600
"""Bytes of a batch, with which a segment may be too large."""

KEYS, VALUE = 4, 300
"""How many keys the compacted topic has, and the bytes of a record at most."""

SLACK = 4000
"""Bytes of metadata that come while nothing is written: the cluster goes on."""


def check(path: str, disk: LossyDisk, shape: LivesShape) -> None:
    """Broken when there is too much."""
    for topic, index in directories.partitions(disk):
        size = _logs(directories.files(disk, topic, index))
        most = {"kept": RETENTION + 2 * (SEGMENT + LARGEST), "compacted": 3 * (SEGMENT + LARGEST) + KEYS * VALUE}.get(
            topic
        )
        if most is not None and size > most:
            raise Broken(f"{path}: {topic}-{index} has {size} bytes, and may have {most}")
    if shape.metadata_segment != NO_SEGMENT:
        _metadata(path, directories.files(disk, METADATA_TOPIC, 0), shape)


def _logs(files: dict[str, int]) -> int:
    return sum(size for name, size in files.items() if name.endswith(names.LOG))


def _metadata(path: str, files: dict[str, int], shape: LivesShape) -> None:
    snapshots = [size for name, size in files.items() if names.parse_checkpoint(name) is not None]
    size = _logs(files) + sum(snapshots)
    largest = max(snapshots, default=0)
    most = shape.metadata_retention + shape.snapshot_bytes + 2 * shape.metadata_segment + 2 * largest + SLACK
    if size > most:
        raise Broken(f"{path}: the metadata has {size} bytes, and may have {most}: {files}")
