"""The logs of one node in files, in Kafka's layout, in one log directory or several.

Rules. A partition is in one log directory; a new one goes to the directory with the fewest
partitions. The file `partition.metadata` says which topic a folder belongs to: a folder that
belongs to no topic of the cluster is renamed to `-stray`, never deleted. A deleted partition is
renamed at once and removed later (`log.segment.delete.delay.ms`). A directory that has failed is
not used again (KIP-112): its logs raise DiskFailure, the others are served, and new partitions go
to them. A partition with an emptied, damaged or deleted segment fails alone. Failures during the
upkeep of logs are reported by `outages` only. A partition may have a second log, its future replica
in another directory (`future_logs`).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection, Container, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import NamedTuple

from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import UsageError

from ..log.config import LogConfig
from ..log.files.errors import DiskFailure, LostFile
from ..log.formats import names
from ..log.formats.errors import BadFile
from ..log.log import PartitionLog
from ..metadata.internal_topics import METADATA_TOPIC
from ..metadata.log_dir_ids import LOST
from ..raft.quorum_state_file import FileQuorumStateStore
from ..raft.snapshots.file_store import FileSnapshotStore
from .future_logs import FutureLog, FutureLogs
from .loading import METADATA_KEY, Key, load, offsets_of
from .log_dir import LogDir
from .log_dir_description import LogDirDescription
from .outage import Outage

log = ClientLog("kafkadouble.server.logs")

METADATA_FOLDER = names.partition_folder(METADATA_TOPIC, 0)

SINCE_EVER = -(2**63)

MOST_PREFERRED = 10_000
"""Of so many partitions that are not here yet a preferred directory is remembered."""


class OpenLog(NamedTuple):
    """An open log, the id of its topic, and its log directory."""

    log: PartitionLog
    topic_id: Uuid
    log_dir: LogDir


class FileLogs:
    """All logs of one node; see `logs.Logs`. `dirs` are for partitions, and the first one also has
    the metadata log, unless `metadata_dir` is given: a directory for that log alone."""

    def __init__(self, dirs: Sequence[LogDir], new_id: Callable[[], Uuid], metadata_dir: LogDir | None = None) -> None:
        self._dirs, self._new_id = list(dirs), new_id
        self._metadata_dir = metadata_dir or self._dirs[0]
        self._all_dirs = self._dirs if metadata_dir is None else [metadata_dir, *self._dirs]
        self._open_logs: dict[Key, OpenLog] = {}
        self._lost: dict[Key, LostFile] = {}  # partitions that are not served until a restart
        self._dir_of = {key: log_dir for log_dir in self._all_dirs for key in log_dir.partitions()}
        self._deleted = [(SINCE_EVER, log_dir, folder) for log_dir in self._all_dirs for folder in log_dir.deleted()]
        self._preferred: dict[Key, LogDir] = {}  # of partitions that are not here yet
        self.future_logs = FutureLogs(self._dirs, new_id, self._to_be_removed)
        self.failures: deque[tuple[LogDir, DiskFailure]] = deque()  # filled by any thread
        for log_dir in self._all_dirs:
            log_dir.disk.watch(partial(self._fails, log_dir))

    def _fails(self, log_dir: LogDir, failure: DiskFailure) -> None:
        self.failures.append((log_dir, failure))

    def outages(self) -> list[Outage]:
        found = []
        while self.failures:
            log_dir, why = self.failures.popleft()
            if isinstance(why, LostFile):
                found += self._lose(log_dir, why)
                continue
            lost = sorted(key for key, other in self._dir_of.items() if other is log_dir)
            futures = self.future_logs.keys_in(log_dir)
            found.append(Outage(log_dir.id, log_dir.path, why, lost, log_dir is self._metadata_dir, futures=futures))
        return found

    def _lose(self, log_dir: LogDir, why: LostFile) -> list[Outage]:
        """The outage of the partition whose file is lost; none when it is known already, or the
        partition was deleted."""
        folder = why.path.partition("/")[0]
        for future in self.future_logs:
            if future.log_dir is log_dir and future.folder == folder:
                lost = future.log.topic, future.log.index
                return [Outage(log_dir.id, log_dir.at(folder), why, (), False, is_partial=True, futures=[lost])]
        key = names.parse_partition_folder(folder)
        if key is None or key in self._lost or self._dir_of.get(key) is not log_dir:
            return []
        self._lost[key] = why
        return [Outage(log_dir.id, log_dir.at(folder), why, [key], key == METADATA_KEY, is_partial=True)]

    def log_dirs(self) -> list[LogDirDescription]:
        found: dict[LogDir, dict[Key, PartitionLog]] = {log_dir: {} for log_dir in self._dirs}
        for key, opened in self._open_logs.items():
            if key != METADATA_KEY and opened.log_dir.disk.failed is None:
                found[opened.log_dir][key] = opened.log
        return [
            LogDirDescription(
                os.path.abspath(log_dir.path),
                logs,
                log_dir.disk.space(),
                log_dir.disk.failed is not None,
                {(log.log.topic, log.log.index): log.log for log in self.future_logs if log.log_dir is log_dir},
            )
            for log_dir, logs in found.items()
        ]

    def path_of(self, topic: str, index: int) -> str | None:
        log_dir = self._dir_of.get((topic, index))
        return None if log_dir is None else os.path.abspath(log_dir.path)

    def is_offline(self, topic: str, index: int) -> bool:
        log_dir = self._dir_of.get((topic, index))
        return (topic, index) in self._lost or (log_dir is not None and log_dir.disk.failed is not None)

    def _dir_at(self, path: str) -> LogDir:
        return next(log_dir for log_dir in self._dirs if os.path.abspath(log_dir.path) == path)

    def prefer(self, topic: str, index: int, path: str) -> None:
        if len(self._preferred) >= MOST_PREFERRED:
            del self._preferred[next(iter(self._preferred))]
        self._preferred[topic, index] = self._dir_at(path)

    def create_future(
        self, topic: str, topic_id: Uuid, index: int, path: str, config: LogConfig, now: int
    ) -> FutureLog:
        self._preferred.pop((topic, index), None)
        return self.future_logs.create((topic, index), topic_id, self._dir_at(path), config, now)

    def replace_current(self, topic: str, index: int, now: int) -> PartitionLog:
        key = topic, index
        current, future = self._open_logs[key], self.future_logs.get(key)
        assert future is not None, f"{topic}-{index} has no future replica"
        deleted = names.deleted_folder(topic, index, self._new_id().hex())
        future.log.take_over(current.log)
        # A crash between the two leaves the future replica alone, which the next start adopts. The
        # first is flushed, or a loss of power could leave both as logs in use.
        current.log.rename_folder(deleted)
        try:
            current.log_dir.disk.flush_folder("")
            future.log.rename_folder(names.partition_folder(topic, index))
            future.log_dir.disk.flush_folder("")
        except DiskFailure:
            with suppress(DiskFailure):
                current.log.rename_folder(names.partition_folder(topic, index))
            raise
        self.future_logs.forget(key)
        self._open_logs[key], self._dir_of[key] = OpenLog(future.log, future.topic_id, future.log_dir), future.log_dir
        with suppress(DiskFailure):
            current.log.close(flush=False)
        self._to_be_removed(current.log_dir, deleted, now)
        return future.log

    def _to_be_removed(self, log_dir: LogDir, folder: str, now: int) -> None:
        self._deleted.append((now, log_dir, folder))

    @property
    def cluster_id(self) -> str | None:
        return self._dirs[0].properties.cluster_id

    @property
    def bootstrap(self) -> Sequence[Message]:
        return self._metadata_dir.bootstrap()

    @property
    def last_broker_epoch(self) -> int:
        epochs = {log_dir.last_broker_epoch for log_dir in self._all_dirs}
        return epochs.pop() if len(epochs) == 1 else -1

    has_ids = True

    def directory_of(self, topic: str, index: int) -> Uuid | None:
        log_dir = self._dir_of.get((topic, index))
        if (topic, index) in self._lost:
            return LOST
        return None if log_dir is None else log_dir.id

    @property
    def directories(self) -> Sequence[Uuid]:
        return [log_dir.id for log_dir in self._dirs if log_dir.disk.failed is None]

    def check(self) -> None:
        for log_dir in self._dirs:
            log_dir.check()
        working = [log_dir for log_dir in self._dirs if log_dir.disk.failed is None]
        holders: dict[Key, list[LogDir]] = {}
        for log_dir in working:
            for key in log_dir.partitions():
                holders.setdefault(key, []).append(log_dir)
        for key, found in holders.items():
            if len(found) > 1:
                self._check_duplicates(key, found)

    def _check_duplicates(self, key: Key, holders: Sequence[LogDir]) -> None:
        """Chooses the folder that has the records of a partition. UsageError when several have some
        of the same topic. A directory that fails while a partition is made leaves an empty one."""
        folder, filled = names.partition_folder(*key), dict[Uuid | None, LogDir]()
        for log_dir in holders:
            if log_dir.has_records(folder):
                other = filled.setdefault(log_dir.owner(folder), log_dir)
                if other is not log_dir:
                    text = "both have records of one partition: delete the one of a directory that has failed"
                    raise UsageError(f"{other.at(folder)} and {log_dir.at(folder)}: {text}")
                self._dir_of[key] = log_dir

    def begin(self) -> None:
        for log_dir in self._all_dirs:
            with suppress(DiskFailure):
                log_dir.begin()

    def metadata(self, config: LogConfig, now: int) -> PartitionLog:
        log_dir = self._dir_of.setdefault(METADATA_KEY, self._metadata_dir)
        if log_dir is not self._metadata_dir:
            text = f"the cluster's metadata must be in the first directory, {self._metadata_dir.path}"
            raise UsageError(f"{log_dir.at(METADATA_FOLDER)}: {text}")
        log_dir.check_bootstrap()
        # An empty log would let this node vote again in old epochs.
        if log_dir.owner(METADATA_FOLDER) not in (Uuid.METADATA_TOPIC_ID, None):
            file = log_dir.at(f"{METADATA_FOLDER}/{names.PARTITION_METADATA}")
            raise BadFile(f"another topic's id than {Uuid.METADATA_TOPIC_ID}", file=file, offset=0)
        return self.open(METADATA_TOPIC, Uuid.METADATA_TOPIC_ID, 0, config, now)

    @property
    def metadata_directory(self) -> Uuid:
        return self._metadata_dir.id

    def call_directory(self, id: Uuid) -> Uuid:
        return self.metadata_directory

    @cached_property
    def elections(self) -> FileQuorumStateStore:
        return FileQuorumStateStore(self._metadata_dir.disk, METADATA_FOLDER)

    @cached_property
    def snapshots(self) -> FileSnapshotStore:
        return FileSnapshotStore(self._metadata_dir.disk, METADATA_FOLDER)

    def open(self, topic: str, topic_id: Uuid, index: int, config: LogConfig, now: int) -> PartitionLog:
        key = topic, index
        if key in self._lost:
            raise self._lost[key]
        opened = self._open_logs.get(key)
        if opened is None:
            opened = self._open_logs[key] = self._found(key, topic_id, config, now)
        opened.log.config = config
        return opened.log

    def _found(self, key: Key, topic_id: Uuid, config: LogConfig, now: int) -> OpenLog:
        """Opens a log. A new log goes to another directory when its directory fails over it."""
        is_new = key not in self._dir_of
        while True:
            try:
                log_dir = self._log_dir_for(key, topic_id)
                if key != METADATA_KEY:
                    log_dir.begin()
                folder = names.partition_folder(*key)
                return OpenLog(load(log_dir, key, folder, config, now), topic_id, log_dir)
            except LostFile as lost:
                self._fails(log_dir, lost)
                raise
            except DiskFailure:
                if not is_new or not self.directories:
                    raise
                self._dir_of.pop(key, None)

    def _log_dir_for(self, key: Key, topic_id: Uuid) -> LogDir:
        """The directory of a partition, with a folder that certainly belongs to the partition."""
        folder = names.partition_folder(*key)
        while (log_dir := self._dir_of.get(key)) is not None and log_dir.owner(folder) not in (topic_id, None):
            self._put_aside(log_dir, key)
        if log_dir is None and (adopted := self.future_logs.adopt(key, topic_id)) is not None:
            log_dir = self._dir_of[key] = adopted
        if log_dir is None:
            log_dir = self._dir_of[key] = self._chosen_dir(key)
            log_dir.ends_at(key, 0)  # the offsets of a deleted topic of this name
        if log_dir.owner(folder) is None:
            log_dir.own(folder, topic_id)
        return log_dir

    def _chosen_dir(self, key: Key) -> LogDir:
        """The preferred directory of a new partition, or that with the fewest logs."""
        preferred = self._preferred.pop(key, None)
        if preferred is not None and preferred.disk.failed is None:
            return preferred
        used = [*self._dir_of.values(), *self.future_logs.dirs()]
        working = [log_dir for log_dir in self._dirs if log_dir.disk.failed is None]
        return min(working or self._dirs, key=used.count)

    def put_aside_strays(self, known: Container[tuple[Uuid, int]]) -> None:
        self.future_logs.put_aside_strays(known)
        for key, log_dir in list(self._dir_of.items()):
            with suppress(DiskFailure):
                if key not in self._open_logs and (log_dir.owner(names.partition_folder(*key)), key[1]) not in known:
                    self._put_aside(log_dir, key)

    def _put_aside(self, log_dir: LogDir, key: Key) -> None:
        name = names.partition_folder(*key)
        stray = names.stray_folder(*key, self._new_id().hex())
        log.warning("%s belongs to no topic of this cluster: it is now called %s", log_dir.at(name), stray)
        log_dir.disk.rename(name, stray)
        del self._dir_of[key]
        for other in self._dirs:
            if other.disk.failed is None and name in other.disk.folders():
                self._dir_of[key] = other

    def delete(self, topic: str, topic_id: Uuid, index: int, now: int) -> None:
        key, name = (topic, index), names.partition_folder(topic, index)
        log_dir = self._dir_of.get(key)
        if log_dir is None:
            return
        with suppress(DiskFailure):
            if log_dir.owner(name) not in (topic_id, None):
                return
        opened = self._open_logs.pop(key, None)
        del self._dir_of[key]
        self._lost.pop(key, None)
        self.future_logs.drop(key, now)
        # What stays in a directory that fails becomes stray when it works again.
        with suppress(DiskFailure):
            if opened is not None:
                opened.log.close(flush=False)
            deleted_name = names.deleted_folder(topic, index, self._new_id().hex())
            log_dir.disk.rename(name, deleted_name)
            self._to_be_removed(log_dir, deleted_name, now)

    def checkpoint(self, now: int, which: Collection[str] | None = None) -> None:
        for log_dir in self._all_dirs:
            here = {
                k: opened.log
                for k, opened in self._open_logs.items()
                if opened.log_dir is log_dir and k not in self._lost
            }
            for log in self.future_logs:
                if log.log_dir is log_dir:
                    here[log.log.topic, log.log.index] = log.log
            with suppress(DiskFailure):
                log_dir.checkpoint(offsets_of(here, which or names.OFFSET_CHECKPOINTS), self._unopened(log_dir))

    def _unopened(self, log_dir: LogDir) -> set[Key]:
        """The partitions of a directory that were not opened since the start, or that were lost
        since then."""
        closed = self._lost.keys() | (self._dir_of.keys() - self._open_logs.keys())
        return {key for key in closed if self._dir_of[key] is log_dir} | self.future_logs.unopened_in(log_dir)

    def tick(self, now: int, delay: int) -> None:
        for opened in self._open_logs.values():
            with suppress(DiskFailure):
                opened.log.tick(now)
        self.future_logs.tick(now)
        due = [each for each in self._deleted if now - each[0] >= delay]
        if due:
            # first, so that no checkpoint has an entry without a folder
            self.checkpoint(now)
        for since, log_dir, folder in due:
            self._deleted.remove((since, log_dir, folder))
            with suppress(DiskFailure):
                log_dir.disk.remove_folder(folder)

    def close(self, now: int, broker_epoch: int) -> None:
        for opened in self._open_logs.values():
            with suppress(DiskFailure):
                opened.log.close()
        self.future_logs.close()
        self.checkpoint(now)
        for log_dir in self._all_dirs:
            # Logs that were not opened are as the previous stop has left them.
            if log_dir.clean or not self._unopened(log_dir):
                with suppress(DiskFailure):
                    log_dir.mark_clean(broker_epoch)

    def __repr__(self) -> str:
        return f"{len(self._open_logs)} logs in {', '.join(place.path for place in self._all_dirs)}"
