"""The log directories of a broker: formatted when they are empty, loaded when they are not, and
locked, so that only one process uses them.

A directory that is empty or missing joins the cluster of the other directories; if all of them are
new, they form a new cluster.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kafkadouble.common.errors import UsageError
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.files.lost_flushes import drop_lost
from kafkadouble.server.log.files.real_disk import RealDisk
from kafkadouble.server.log.formats.names import CLEAN_SHUTDOWN, LOCK, META_PROPERTIES, is_of_log
from kafkadouble.server.logs.files import FileLogs
from kafkadouble.server.logs.formatting import format_directory, opened
from kafkadouble.server.logs.lock import DirectoryLock
from kafkadouble.server.logs.log_dir import properties_of

if TYPE_CHECKING:
    from kafkadouble.server.configs.settings import Settings
    from kafkadouble.server.faults.armed import Armed
    from kafkadouble.server.faults.disks import DiskFaults, DiskHost
    from kafkadouble.server.logs.logs import Logs

    from .saved_logs import SavedLogs


class DataDirs:
    """The log directories of one broker, locked until `release`. Raises UsageError for a directory
    that cannot be used."""

    def __init__(
        self,
        paths: Sequence[str],
        node_id: int,
        now: int,
        new_id: Callable[[], Uuid] | None = None,
        cluster_id: str | None = None,
        metadata_path: str | None = None,
    ) -> None:
        self._node_id, self._new_id = node_id, new_id or (lambda: Uuid.random(os.urandom))
        # The one of the paths that is for the metadata log alone.
        self._metadata_path = metadata_path
        # The cluster id of new directories.
        self.cluster_id = cluster_id
        self.paths = list(paths)
        self._locks: list[DirectoryLock] = []
        self._disks = {path: RealDisk(path) for path in paths}
        self._faults: dict[str, DiskFaults] = {}  # by path, while there are rules for disks
        # The epoch of the broker whose copied files are opened next: nothing of them is lost.
        self._copied_in: int | None = None
        if len({os.path.realpath(path) for path in paths}) < len(paths):
            raise UsageError(f"a data directory is named twice: {', '.join(paths)}")
        try:
            self._locks += [DirectoryLock(path) for path in paths]
            self._format(now)
        except BaseException:
            self.release()
            raise

    def _format(self, now: int) -> None:
        found = {path: properties_of(disk, path) for path, disk in self._disks.items()}
        known = [properties for properties in found.values() if properties is not None]
        cluster_id = known[0].cluster_id if known else self.cluster_id or str(self._new_id())
        for path, properties in found.items():
            if properties is None:
                format_directory(self._disks[path], path, cluster_id or "", self._node_id, self._new_id(), now)

    def open(self) -> FileLogs:
        """Loads the logs that an earlier run of the broker left."""
        self._begin_again()
        found = opened(self._disks, self._node_id)
        if self._copied_in is not None:
            for log_dir in found:
                log_dir.last_broker_epoch = self._copied_in
        self._copied_in = None
        alone = next((each for each in found if each.path == self._metadata_path), None)
        if alone is None:
            return FileLogs(found, self._new_id)
        # With `metadata.log.dir` alone.
        from kafkadouble.server.logs.metadata_dir import move_partitions_out

        dirs = [each for each in found if each is not alone]
        move_partitions_out(alone, dirs)
        return FileLogs(dirs, self._new_id, alone)

    def _begin_again(self) -> None:
        """Tries again the directories that failed in an earlier run."""
        for disk in self._disks.values():
            disk.failed = None

    def rules_changed(self, rules: Sequence[Armed], node: DiskHost) -> None:
        """Applies the fault rules for disks to this node from now on."""
        for path, disk in self._disks.items():
            if path not in self._faults and rules:
                # With a data directory alone.
                from kafkadouble.server.faults.disks import DiskFaults

                self._faults[path] = DiskFaults(disk.root, rules, node)
            if path in self._faults:
                self._faults[path].node = node
                if self._faults[path].is_over:
                    del self._faults[path]
            disk.faults = self._faults.get(path)

    def killed(self, logs: Logs, now: int) -> None:
        """Closes the logs of a node that was killed: nothing says that they are whole, and what
        only flushes covered that were lost is gone."""
        lost = {path: faults.take_lost() for path, faults in self._faults.items()}
        for disk in self._disks.values():
            disk.faults = None
        logs.close(now, -1)
        self._begin_again()
        for path, disk in self._disks.items():
            disk.remove(CLEAN_SHUTDOWN)
            drop_lost(disk, lost.get(path, {}))

    def erase(self, now: int, cluster_id: str) -> None:
        """Deletes everything and formats the directories for this cluster. Their logs must be
        closed."""
        self.cluster_id = cluster_id
        self._empty()
        self._format(now)

    def _empty(self) -> None:
        self._begin_again()
        self._copied_in = None
        self._faults.clear()
        for disk in self._disks.values():
            disk.faults = None
            for folder in disk.folders():
                disk.remove_folder(folder)
            for name in disk.names(""):
                if name != LOCK:
                    disk.remove(name)

    def save(self, logs: Logs | None, now: int, broker_epoch: int) -> SavedLogs:
        """Copies every file. `logs` are open now, of a broker that is registered in this epoch;
        None if none are open. Raises DiskFailure."""
        from .saved_logs import SavedDirs, saved_dir  # for snapshots alone

        found = opened(self._disks, self._node_id)
        if logs is None:
            epochs = {each.last_broker_epoch for each in found}
            broker_epoch = epochs.pop() if len(epochs) == 1 else -1
        else:
            logs.checkpoint(now)
        return SavedDirs(tuple(saved_dir(each.disk, each.properties) for each in found), broker_epoch)

    def put(self, saved: SavedLogs, now: int, cluster_id: str) -> None:
        """Deletes everything, and writes the files of a copy. The logs must be closed. Raises
        DiskFailure."""
        from .saved_logs import SavedDirs, write_dir  # for snapshots alone

        assert isinstance(saved, SavedDirs)
        self._empty()
        self.cluster_id, self._copied_in = cluster_id, saved.broker_epoch
        for disk, each in zip(self._disks.values(), saved.dirs, strict=True):
            write_dir(disk, each, self._node_id, cluster_id)

    def release(self) -> None:
        """Unlocks the directories for other processes."""
        for lock in self._locks:
            lock.release()

    def __repr__(self) -> str:
        return ", ".join(self._disks)


def node_of(path: str) -> int | None:
    """The id of the node that a directory belongs to; None when it is not formatted."""
    if not os.path.isdir(path):
        return None
    properties = properties_of(RealDisk(path), path)
    return None if properties is None else properties.node_id


def log_dirs(settings: Settings) -> list[str]:
    """The directories in the settings; `metadata.log.dir` comes first. Raises UsageError when the
    settings name none."""
    paths = _partition_dirs(settings)
    metadata = settings["metadata.log.dir"]
    if isinstance(metadata, str) and metadata:
        paths = [metadata, *(path for path in paths if path != metadata)]
    if not paths:
        raise UsageError("log.dirs names no directory")
    return [*dict.fromkeys(paths)]


def metadata_dir(settings: Settings) -> str | None:
    """The directory in the settings that is for the metadata log alone; None if that log is in one
    of the others."""
    setting = settings["metadata.log.dir"]
    return setting if isinstance(setting, str) and setting and setting not in _partition_dirs(settings) else None


def _partition_dirs(settings: Settings) -> list[str]:
    found = settings["log.dirs"] or settings["log.dir"]
    return [path.strip() for path in (found if isinstance(found, tuple) else str(found).split(",")) if path.strip()]


def are_formatted(paths: Sequence[str]) -> bool:
    """Whether these directories are formatted. UsageError when only some of them are, or when one
    that is not formatted has logs: its meta.properties is lost."""
    lacking = [path for path in paths if not os.path.exists(os.path.join(path, META_PROPERTIES))]
    lost = lacking[0] if 0 < len(lacking) < len(paths) else next(filter(_has_logs, lacking), None)
    if lost is not None:
        raise UsageError(f"{lost} has no {META_PROPERTIES}: `kafkadouble format` makes an empty one a log directory")
    return not lacking


def _has_logs(path: str) -> bool:
    return os.path.isdir(path) and any(entry.is_dir() and is_of_log(entry.name) for entry in os.scandir(path))
