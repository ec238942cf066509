"""Copies of what a node keeps, as values: its logs in memory, or the files of its log directories.

Rules. A copy never changes, so it may be put back any number of times. Batches in memory are shared
with the node that they are copied from, because their bytes never change. Files are copied to
memory. A copy of files says nothing about flushes: a node that starts on it reads every batch, and
flushes again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.files.disk import Disk
from kafkadouble.server.log.formats import meta_properties, names
from kafkadouble.server.log.formats.meta_properties import MetaProperties
from kafkadouble.server.logs.logs import Logs
from kafkadouble.server.logs.memory import MemoryLogs

LEFT_OUT = frozenset({names.LOCK, names.META_PROPERTIES, names.CLEAN_SHUTDOWN, names.RECOVERY_POINT})
"""Files that are written again, and those that say that files are flushed or closed."""


class SavedDir(NamedTuple):
    """A log directory: its id, and its files by path."""

    id: Uuid | None
    files: Mapping[str, bytes]


class SavedDirs(NamedTuple):
    """The log directories of one node; -1 is the epoch of a broker that was killed."""

    dirs: tuple[SavedDir, ...]
    broker_epoch: int

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        return sum(len(data) for each in self.dirs for data in each.files.values())


SavedLogs = MemoryLogs | SavedDirs


def copied(logs: Logs, now: int, broker_epoch: int | None) -> MemoryLogs:
    """A copy of logs in memory; with an epoch, as after an orderly stop."""
    assert isinstance(logs, MemoryLogs)
    copy = logs.copy()
    if broker_epoch is not None:
        copy.close(now, broker_epoch)
    return copy


def put_back(saved: SavedLogs, cluster_id: str) -> MemoryLogs:
    """Logs in memory for a node of this cluster."""
    assert isinstance(saved, MemoryLogs)
    logs = saved.copy()
    logs.cluster_id = cluster_id
    return logs


def saved_dir(disk: Disk, properties: MetaProperties) -> SavedDir:
    """A copy of a log directory, without partitions that are deleted. DiskFailure."""
    paths = [name for name in disk.names("") if name not in LEFT_OUT]
    folders = [folder for folder in disk.folders() if not names.is_deleted(folder)]
    paths += [f"{folder}/{name}" for folder in folders for name in disk.names(folder)]
    return SavedDir(properties.directory_id, {path: disk.read_whole(path) for path in paths})


def write_dir(disk: Disk, saved: SavedDir, node_id: int, cluster_id: str) -> None:
    """Writes a copy to an empty log directory. DiskFailure."""
    for folder in sorted({path.rpartition("/")[0] for path in saved.files} - {""}):
        disk.make_folder(folder)
    for path, data in saved.files.items():
        disk.write_whole(path, data, flush=False)
    # last, as when a directory is formatted
    properties = MetaProperties(cluster_id, node_id, saved.id)
    disk.write_whole(names.META_PROPERTIES, meta_properties.write(properties))
