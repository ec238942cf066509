"""One log directory: the node that it belongs to, its partitions, and the checkpoints of the
previous run.

    meta.properties, .lock, .kafka_cleanshutdown, recovery-point-offset-checkpoint,
    replication-offset-checkpoint, log-start-offset-checkpoint, cleaner-offset-checkpoint,
    and a folder for each partition: orders-0, orders-1, ...

Rules. A directory belongs to one node of one cluster (KIP-78, KIP-631) and has an id of its own
(KIP-858). `begin` removes the mark of a clean stop, before the node writes anything: from then on
every stop is unclean, until the mark is written again. A start that fails before `begin` has
changed nothing. A missing checkpoint costs only time, and one that is ahead of its log is not
trusted. A damaged one takes the directory offline, as in Kafka: each is written whole, so that no
crash leaves it torn.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import UsageError

from ..log.files.disk import Disk
from ..log.files.errors import DiskFailure
from ..log.formats import clean_shutdown, meta_properties, names, offset_checkpoint, partition_metadata
from ..log.formats.errors import BadFile
from ..log.formats.meta_properties import MetaProperties
from ..log.offset_and_epoch import OffsetAndEpoch
from ..metadata import bootstrap_file
from ..metadata.features import METADATA_VERSION
from ..metadata.internal_topics import METADATA_TOPIC

log = ClientLog("kafkadouble.server.logs")

METADATA_FOLDER = names.partition_folder(METADATA_TOPIC, 0)

Offsets = Mapping[tuple[str, int], int]
"""Topic and partition -> an offset."""


class LogDir:
    """An opened log directory; `path` is for messages. `clean`: its last node stopped cleanly."""

    def __init__(self, disk: Disk, path: str, properties: MetaProperties) -> None:
        self.disk, self.path, self.properties = disk, path, properties
        self._damaged: list[BadFile] = []  # checkpoints
        # as they are on the disk
        self._offsets = {name: self._read(name) for name in names.OFFSET_CHECKPOINTS}
        self.clean = disk.exists(names.CLEAN_SHUTDOWN)
        self.last_broker_epoch = self._epoch_of_last_life()
        self._is_marked = self.clean

    def begin(self) -> None:
        """Removes the mark of a clean stop. Calling it again does nothing."""
        if self._is_marked:
            self._is_marked = False
            self.disk.remove(names.CLEAN_SHUTDOWN)
            # Without the flush, a loss of power could restore the mark, for logs that changed after
            # it.
            self.disk.flush_folder("")

    def _epoch_of_last_life(self) -> int:
        """The broker epoch of the last run, if it stopped cleanly and wrote its epoch; otherwise
        -1."""
        if not self.clean:
            return -1
        try:
            epoch = clean_shutdown.read(self.disk.read_whole(names.CLEAN_SHUTDOWN), self.at(names.CLEAN_SHUTDOWN))
        except BadFile as problem:
            log.warning("%s: it is ignored", problem)
            return -1
        return -1 if epoch is None else epoch

    @property
    def id(self) -> Uuid:
        """The directory's own id. A directory without one is not opened."""
        return self.properties.directory_id or Uuid.ZERO

    def _read(self, name: str) -> Offsets:
        try:
            return offset_checkpoint.read(self.disk.read_whole(name), self.at(name)) if self.disk.exists(name) else {}
        except BadFile as problem:
            self._damaged.append(problem)
            return {}

    def check(self) -> None:
        """Checks what counts for all partitions in it. UsageError for a folder that is not of a
        partition; with a damaged checkpoint, the disk fails."""
        for folder in self.disk.folders():
            if not names.is_of_log(folder):
                raise UsageError(
                    f"{self.at(folder)} is not the folder of a partition (TOPIC-N): move it out of the log directory"
                )
        for problem in self._damaged:
            self.disk.fail(str(problem))

    def at(self, name: str) -> str:
        """The path of a file or folder, for messages."""
        return f"{self.path}/{name}"

    def partitions(self) -> Iterator[tuple[str, int]]:
        """The partitions that have a folder here."""
        found = map(names.parse_partition_folder, self.disk.folders())
        return (partition for partition in found if partition is not None)

    def deleted(self) -> list[str]:
        """The folders of partitions that were deleted, and not yet removed."""
        return [name for name in self.disk.folders() if names.is_deleted(name)]

    def owner(self, folder: str) -> Uuid | None:
        """The topic that a folder belongs to. None when the file is missing, or when power was lost
        before it was flushed, which is before any record was appended. Otherwise a damaged file
        fails the disk: DiskFailure."""
        file = f"{folder}/{names.PARTITION_METADATA}"
        if not self.disk.exists(file):
            return None
        try:
            return partition_metadata.read(self.disk.read_whole(file), self.at(file)).topic_id
        except BadFile as problem:
            if not self.has_records(folder):
                log.warning("%s: it is ignored, because the folder has no records", problem)
                return None
            self.disk.fail(str(problem))
            raise DiskFailure(self.path, str(problem)) from problem

    def has_records(self, folder: str) -> bool:
        """Whether a segment in this folder is not empty."""
        logs = [name for name in self.disk.names(folder) if name.endswith(names.LOG)]
        return any(self.disk.size(f"{folder}/{name}") for name in logs)

    def own(self, folder: str, topic_id: Uuid) -> None:
        """Writes which topic a folder belongs to."""
        self.disk.make_folder(folder)
        self.disk.write_whole(f"{folder}/{names.PARTITION_METADATA}", partition_metadata.write(topic_id), flush=False)

    def offset(self, name: str, partition: tuple[str, int]) -> int:
        """The offset of a partition in the checkpoint of this name, 0 when it has none."""
        return self._offsets[name].get(partition, 0)

    def checkpoint(self, offsets: Mapping[str, Offsets], unopened: Container[tuple[str, int]] = ()) -> None:
        """Writes checkpoints, by name: recovery points, high watermarks, cleaner offsets or log
        start offsets. The entries of logs in `unopened` stay. A file that would not change is not
        written, only looked for: that shows when the directory is gone.
        """
        for name, found in offsets.items():
            known = {key: offset for key, offset in self._offsets[name].items() if key in unopened}
            now = {**known, **found}
            if now != self._offsets[name] or not self.disk.exists(name):
                self._write(name, now)

    def ends_at(self, partition: tuple[str, int], offset: int) -> None:
        """The log of a partition ends at `offset` now. Larger offsets in the checkpoints are
        lowered to it: they are of records that are gone, and must not count for the records that
        come."""
        for name, offsets in self._offsets.items():
            if offsets.get(partition, 0) > offset:
                self._write(name, {**offsets, partition: offset})

    def take_over(self, partition: tuple[str, int], other: LogDir) -> None:
        """The partition was moved here from another directory: so are its offsets in the
        checkpoints. Its log is as clean as the other directory."""
        for name, offsets in self._offsets.items():
            if partition in other._offsets[name]:
                self._write(name, {**offsets, partition: other._offsets[name][partition]})
        self.clean = self.clean and other.clean

    def _write(self, name: str, offsets: Offsets) -> None:
        self.disk.write_whole(name, offset_checkpoint.write(offsets))
        self._offsets[name] = offsets

    def mark_clean(self, broker_epoch: int) -> None:
        """Marks the directory: every log in it is closed and flushed."""
        self.disk.write_whole(names.CLEAN_SHUTDOWN, clean_shutdown.write(broker_epoch))

    def check_bootstrap(self) -> None:
        """BadFile for a `bootstrap.checkpoint` without the level of the metadata, which `format`
        always writes, also if the file is not needed any more."""
        if self.disk.exists(names.BOOTSTRAP):
            file = self.at(names.BOOTSTRAP)
            records = bootstrap_file.read(self.disk.read_whole(names.BOOTSTRAP), file)
            if METADATA_VERSION not in [getattr(record, "name", None) for record in records]:
                raise BadFile(f"it has no record of {METADATA_VERSION}", file=file, offset=0)

    def bootstrap(self) -> list[Message]:
        """The records that the directory was formatted with: where Apache Kafka writes them today,
        or where it wrote them before."""
        for file in (f"{METADATA_FOLDER}/{names.checkpoint_name(OffsetAndEpoch(0, 0))}", names.BOOTSTRAP):
            if self.disk.exists(file):
                records = bootstrap_file.read(self.disk.read_whole(file), self.at(file))
                if records:
                    return records
        return []

    def __repr__(self) -> str:
        return f"log directory {self.path}"


def properties_of(disk: Disk, path: str) -> MetaProperties | None:
    """The `meta.properties` of a directory; None when it has none. BadFile when it cannot be
    read."""
    if not disk.exists(names.META_PROPERTIES):
        return None
    return meta_properties.read(disk.read_whole(names.META_PROPERTIES), f"{path}/{names.META_PROPERTIES}")
