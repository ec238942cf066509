"""Logs in files: Kafka's own layout, in one log directory or several.

Rules. A partition lies in one directory, a new one where the fewest are. A folder tells by `partition.metadata` whose records it holds: one
that no topic of the cluster owns is put aside as `-stray`, never deleted. A deleted partition is renamed at once and removed later
(`log.segment.delete.delay.ms`). A directory that fails is not touched again (KIP-112): its logs refuse with DiskFailure, the others serve, and
new partitions go to them. A partition of which a file was emptied, or deleted, fails alone. What fails in the care of the logs is told by
`outages` only.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import NamedTuple

from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..log.config import LogConfig
from ..log.files.errors import DiskFailure, LostFile
from ..log.files.loss import LostRecords
from ..log.files.opening import open_log
from ..log.formats import names
from ..log.formats.errors import BadFile
from ..log.log import PartitionLog
from ..metadata.internal_topics import METADATA_TOPIC
from ..metadata.log_dir_ids import LOST
from ..raft.quorum_state_file import FileQuorumStateStore
from ..raft.snapshots.file_store import FileSnapshotStore
from .log_dir import LogDir
from .outage import Outage
from .place import Place

log = logging.getLogger("kafkadouble.server.logs")


Key = tuple[str, int]
"""Topic and partition."""

METADATA_FOLDER = names.partition_folder(METADATA_TOPIC, 0)

METADATA_KEY = METADATA_TOPIC, 0

SINCE_EVER = -(2**63)


class Kept(NamedTuple):
    """An open log, whose it is, and where it lies."""

    log: PartitionLog
    topic_id: Uuid
    place: LogDir


class FileLogs:
    """All logs of one node; see `logs.Logs`. The first directory has the log of the metadata unless another is named."""

    def __init__(self, dirs: Sequence[LogDir], new_id: Callable[[], Uuid], metadata_dir: LogDir | None = None) -> None:
        self._dirs, self._new_id = list(dirs), new_id
        self._metadata_dir = metadata_dir or self._dirs[0]
        self._kept: dict[Key, Kept] = {}
        self._lost: dict[Key, LostFile] = {}  # partitions that are not served until a restart
        self._places = {key: place for place in self._dirs for key in place.partitions()}
        self._deleted = [(SINCE_EVER, place, folder) for place in self._dirs for folder in place.deleted()]
        self.failures: deque[tuple[LogDir, DiskFailure]] = deque()  # filled by any thread
        for place in self._dirs:
            place.disk.watch(partial(self._fails, place))

    def _fails(self, place: LogDir, failure: DiskFailure) -> None:
        self.failures.append((place, failure))

    def outages(self) -> list[Outage]:
        found = []
        while self.failures:
            place, why = self.failures.popleft()
            if isinstance(why, LostFile):
                found += self._lose(place, why)
                continue
            lost = sorted(key for key, other in self._places.items() if other is place)
            found.append(Outage(place.id, place.path, why, lost, place is self._metadata_dir))
        return found

    def _lose(self, place: LogDir, why: LostFile) -> list[Outage]:
        """The partition of a file that is lost; nothing when that is known, or the partition is no more."""
        folder = why.path.partition("/")[0]
        key = names.parse_partition_folder(folder)
        if key is None or key in self._lost or self._places.get(key) is not place:
            return []
        self._lost[key] = why
        return [Outage(place.id, place.at(folder), why, [key], key == METADATA_KEY, is_partial=True)]

    def places(self) -> list[Place]:
        found: dict[LogDir, dict[Key, PartitionLog]] = {place: {} for place in self._dirs}
        for key, kept in self._kept.items():
            if key != METADATA_KEY and kept.place.disk.failed is None:
                found[kept.place][key] = kept.log
        return [
            Place(os.path.abspath(place.path), logs, place.disk.space(), place.disk.failed is not None)
            for place, logs in found.items()
        ]

    @property
    def cluster_id(self) -> str | None:
        return self._dirs[0].properties.cluster_id

    @property
    def bootstrap(self) -> Sequence[Message]:
        return self._metadata_dir.bootstrap()

    @property
    def last_broker_epoch(self) -> int:
        epochs = {place.last_broker_epoch for place in self._dirs}
        return epochs.pop() if len(epochs) == 1 else -1

    has_ids = True

    def directory_of(self, topic: str, index: int) -> Uuid | None:
        place = self._places.get((topic, index))
        if (topic, index) in self._lost:
            return LOST
        return None if place is None else place.id

    @property
    def directories(self) -> Sequence[Uuid]:
        return [place.id for place in self._dirs if place.disk.failed is None]

    def begin(self) -> None:
        for place in self._dirs:
            with suppress(DiskFailure):
                place.begin()

    def metadata(self, config: LogConfig, now: int) -> PartitionLog:
        place = self._places.setdefault(METADATA_KEY, self._metadata_dir)
        if place.owner(METADATA_FOLDER) not in (Uuid.METADATA_TOPIC_ID, None):  # to begin anew would be to vote anew
            file = place.at(f"{METADATA_FOLDER}/{names.PARTITION_METADATA}")
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
        kept = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = self._found(key, topic_id, config, now)
        kept.log.config = config
        return kept.log

    def _found(self, key: Key, topic_id: Uuid, config: LogConfig, now: int) -> Kept:
        """A log that is not open yet; a new one is begun in another directory when one fails over it."""
        is_new = key not in self._places
        while True:
            try:
                place = self._place_for(key, topic_id)
                if key != METADATA_KEY:
                    place.begin()
                return Kept(_load(place, key, config, now), topic_id, place)
            except LostFile as lost:
                self._fails(place, lost)
                raise
            except DiskFailure:
                if not is_new or not self.directories:
                    raise
                self._places.pop(key, None)

    def _place_for(self, key: Key, topic_id: Uuid) -> LogDir:
        """Where a partition lies, with a folder that is known to be its own."""
        folder, place = names.partition_folder(*key), self._places.get(key)
        if place is not None and place.owner(folder) not in (topic_id, None):
            self._put_aside(place, key)
            place = None
        if place is None:
            place = self._places[key] = self._emptiest()
            place.ends_at(key, 0)  # whoever had this name before is gone
        if place.owner(folder) is None:
            place.own(folder, topic_id)
        return place

    def _emptiest(self) -> LogDir:
        used = list(self._places.values())
        working = [place for place in self._dirs if place.disk.failed is None]
        return min(working or self._dirs, key=used.count)

    def put_aside_strays(self, known: Container[tuple[Uuid, int]]) -> None:
        for key, place in list(self._places.items()):
            with suppress(DiskFailure):
                if key not in self._kept and (place.owner(names.partition_folder(*key)), key[1]) not in known:
                    self._put_aside(place, key)

    def _put_aside(self, place: LogDir, key: Key) -> None:
        name = names.partition_folder(*key)
        stray = names.stray_folder(*key, self._new_id().hex())
        log.warning("%s belongs to no topic of this cluster: it is now called %s", place.at(name), stray)
        place.disk.rename(name, stray)
        del self._places[key]

    def delete(self, topic: str, topic_id: Uuid, index: int, now: int) -> None:
        key, name = (topic, index), names.partition_folder(topic, index)
        place = self._places.get(key)
        if place is None:
            return
        with suppress(DiskFailure):
            if place.owner(name) not in (topic_id, None):
                return
        kept = self._kept.pop(key, None)
        del self._places[key]
        self._lost.pop(key, None)
        with suppress(DiskFailure):  # what stays in a directory that fails is put aside when it works again
            if kept is not None:
                kept.log.close(flush=False)
            gone = names.deleted_folder(topic, index, self._new_id().hex())
            place.disk.rename(name, gone)
            self._deleted.append((now, place, gone))

    def checkpoint(self, now: int) -> None:
        for place in self._dirs:
            here = {k: kept.log for k, kept in self._kept.items() if kept.place is place and k not in self._lost}
            with suppress(DiskFailure):
                place.checkpoint(_offsets(here), self._unopened(place))

    def _unopened(self, place: LogDir) -> set[Key]:
        """The partitions that lie there, and that nobody has asked for in this life, or that were lost in it."""
        closed = self._lost.keys() | (self._places.keys() - self._kept.keys())
        return {key for key in closed if self._places[key] is place}

    def tick(self, now: int, delay: int) -> None:
        for kept in self._kept.values():
            with suppress(DiskFailure):
                kept.log.tick(now)
        due = [each for each in self._deleted if now - each[0] >= delay]
        if due:
            self.checkpoint(now)  # first, so that no checkpoint speaks of what is nowhere
        for since, place, folder in due:
            self._deleted.remove((since, place, folder))
            with suppress(DiskFailure):
                place.disk.remove_folder(folder)

    def close(self, now: int, broker_epoch: int) -> None:
        for kept in self._kept.values():
            with suppress(DiskFailure):
                kept.log.close()
        self.checkpoint(now)
        for place in self._dirs:
            if place.clean or not self._unopened(place):  # what is not open is as the last life has left it
                with suppress(DiskFailure):
                    place.mark_clean(broker_epoch)

    def __repr__(self) -> str:
        return f"{len(self._kept)} logs in {', '.join(place.path for place in self._dirs)}"


def _offsets(logs: Mapping[Key, PartitionLog]) -> dict[str, dict[Key, int]]:
    """What is written down of them, by the name of the checkpoint."""
    starts = {key: each.log_start_offset for key, each in logs.items()}
    cleaned = {key: each.cleaned_to for key, each in logs.items()}
    return {
        names.RECOVERY_POINT: {key: each.recovery_point for key, each in logs.items()},
        names.REPLICATION_OFFSET: {key: each.high_watermark for key, each in logs.items()},
        names.LOG_START: {key: offset for key, offset in starts.items() if offset},
        names.CLEANER_OFFSET: {key: offset for key, offset in cleaned.items() if offset},
    }


def _load(place: LogDir, key: Key, config: LogConfig, now: int) -> PartitionLog:
    folder = names.partition_folder(*key)
    try:
        found = open_log(
            place.disk,
            folder,
            *key,
            config,
            clean=place.clean,
            recovery_point=place.offset(names.RECOVERY_POINT, key),
            log_start_offset=place.offset(names.LOG_START, key),
            now=now,
            verified=key == METADATA_KEY,
            ends_at=partial(place.ends_at, key),
            compacted=place.offset(names.CLEANER_OFFSET, key) > 0,
        )
    except LostRecords as lost:
        if key == METADATA_KEY:
            raise
        raise LostFile(place.path, place.at(str(lost)), lost.file) from lost
    found.high_watermark = place.offset(names.REPLICATION_OFFSET, key)  # as far as it is known to be replicated
    found.cleaned_to = min(place.offset(names.CLEANER_OFFSET, key), found.log_end_offset)
    return found
