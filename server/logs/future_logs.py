"""The future replicas of a node in files: the logs of partitions that move to another log directory
(KIP-113).

Rules. A future replica is in the folder `topic-partition.uuid-future` of its destination, and a
partition has at most one. The replica manager fills it from the current log; `FileLogs` puts it in
the place of the current log. A future log of an earlier run is opened with its partition, so that
the move continues. A future log that belongs to no partition of this node is marked as stray, like
the folder of a log. In a directory that failed, a future replica is forgotten, and its partition
stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from typing import NamedTuple

from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.client_log import ClientLog

from ..log.config import LogConfig
from ..log.files.errors import DiskFailure, LostFile
from ..log.formats import names
from ..log.log import PartitionLog
from .loading import Key, load
from .log_dir import LogDir

log = ClientLog("kafkadouble.server.logs")


class FutureLog(NamedTuple):
    """A future replica that is open, and its place."""

    log: PartitionLog
    topic_id: Uuid
    log_dir: LogDir
    folder: str


class FutureLogs:
    """The future replicas in these directories. `put_aside(log_dir, folder)` is called with folders
    that are renamed to be deleted."""

    def __init__(
        self,
        dirs: list[LogDir],
        new_id: Callable[[], Uuid],
        put_aside: Callable[[LogDir, str, int], None],
    ) -> None:
        self._new_id, self._put_aside = new_id, put_aside
        self._folders: dict[Key, tuple[LogDir, str]] = {}
        self._open: dict[Key, FutureLog] = {}
        for log_dir in dirs:
            for folder in sorted(log_dir.disk.folders()):
                found = names.parse_marked_folder(folder)
                if found is None or found.mark != names.FUTURE:
                    continue
                key = found.topic, found.partition
                if key in self._folders:
                    log.warning("%s is a second future replica of its partition: it is ignored", log_dir.at(folder))
                else:
                    self._folders[key] = log_dir, folder

    def __contains__(self, key: object) -> bool:
        """Whether a partition has a future replica, open or not."""
        return key in self._folders

    def __iter__(self) -> Iterator[FutureLog]:
        """The open ones."""
        return iter(self._open.values())

    def __len__(self) -> int:
        return len(self._folders)

    def get(self, key: Key) -> FutureLog | None:
        """The open future replica of a partition."""
        return self._open.get(key)

    def keys_in(self, log_dir: LogDir) -> list[Key]:
        """The partitions that have a future replica in this directory."""
        return sorted(key for key, (place, _) in self._folders.items() if place is log_dir)

    def unopened_in(self, log_dir: LogDir) -> set[Key]:
        """Those of them that were not opened since the start."""
        return {key for key in self.keys_in(log_dir) if key not in self._open}

    def dirs(self) -> list[LogDir]:
        """The directory of each future replica."""
        return [log_dir for log_dir, _ in self._folders.values()]

    def create(self, key: Key, topic_id: Uuid, log_dir: LogDir, config: LogConfig, now: int) -> FutureLog:
        """An empty future replica in this directory. DiskFailure."""
        folder = names.future_folder(*key, self._new_id().hex())
        log_dir.begin()
        log_dir.ends_at(key, 0)  # the offsets of an earlier log of this partition
        log_dir.own(folder, topic_id)
        self._folders[key] = log_dir, folder
        return self._opened(key, topic_id, config, now)

    def open(self, key: Key, topic_id: Uuid, config: LogConfig, now: int) -> FutureLog | None:
        """The future replica of a partition that this node has. None when there is none of this
        topic, or when it cannot be opened: then its directory has failed."""
        known = self._open.get(key)
        if known is not None or key not in self._folders:
            return known
        log_dir, folder = self._folders[key]
        try:
            if log_dir.owner(folder) not in (topic_id, None):
                self._put_aside_as_stray(key)
                return None
            log_dir.begin()
            return self._opened(key, topic_id, config, now)
        except DiskFailure as failure:
            if isinstance(failure, LostFile):  # the node reports all others
                log.error("the move of %s-%d ends without a result: %s", *key, failure.why)
            self.forget(key)
            return None

    def _opened(self, key: Key, topic_id: Uuid, config: LogConfig, now: int) -> FutureLog:
        log_dir, folder = self._folders[key]
        try:
            opened = FutureLog(load(log_dir, key, folder, config, now), topic_id, log_dir, folder)
        except DiskFailure:
            self.forget(key)
            raise
        self._open[key] = opened
        return opened

    def adopt(self, key: Key, topic_id: Uuid) -> LogDir | None:
        """Gives a partition without a log its future replica, which a crash has left alone: the
        folder becomes that of the partition. None when there is none of this topic. DiskFailure."""
        log_dir, folder = self._folders.get(key, (None, ""))
        if log_dir is None or log_dir.disk.failed is not None or log_dir.owner(folder) not in (topic_id, None):
            return None
        name = names.partition_folder(*key)
        log.warning("%s has no current replica any more: it is now called %s", log_dir.at(folder), name)
        log_dir.disk.rename(folder, name)
        self.forget(key)
        return log_dir

    def forget(self, key: Key) -> None:
        """There is no future replica of this partition any more; its files stay as they are."""
        self._folders.pop(key, None)
        self._open.pop(key, None)

    def drop(self, key: Key, now: int) -> None:
        """Deletes the future replica of a partition, as a deleted partition is."""
        if key not in self._folders:
            return
        (log_dir, folder), opened = self._folders[key], self._open.get(key)
        self.forget(key)
        # What stays in a directory that fails becomes stray when it works again.
        with suppress(DiskFailure):
            deleted = names.deleted_folder(*key, self._new_id().hex())
            if opened is not None:
                opened.log.close(flush=False)
            log_dir.disk.rename(folder, deleted)
            self._put_aside(log_dir, deleted, now)

    def put_aside_strays(self, known: Container[tuple[Uuid, int]]) -> None:
        """Puts aside the future replicas of partitions that are not `known`."""
        for key, (log_dir, folder) in list(self._folders.items()):
            with suppress(DiskFailure):
                if key not in self._open and (log_dir.owner(folder), key[1]) not in known:
                    self._put_aside_as_stray(key)

    def _put_aside_as_stray(self, key: Key) -> None:
        log_dir, folder = self._folders[key]
        stray = names.stray_folder(*key, self._new_id().hex())
        log.warning("%s belongs to no topic of this cluster: it is now called %s", log_dir.at(folder), stray)
        self.forget(key)
        log_dir.disk.rename(folder, stray)

    def tick(self, now: int) -> None:
        """Removes the files of segments that were deleted some time ago."""
        for each in self:
            with suppress(DiskFailure):
                each.log.tick(now)

    def close(self) -> None:
        """Closes the open ones; the next run of the node goes on with them."""
        for each in self:
            with suppress(DiskFailure):
                each.log.close()

    def __repr__(self) -> str:
        return f"{len(self._folders)} future replicas, {len(self._open)} of them open"
