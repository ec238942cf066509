"""The storage of a log in Kafka's files, in the partition's folder.

Rules, besides those of `storage`. An acknowledged batch was passed to the system, so it outlives
the process. To outlive the machine it must be flushed; that takes long, so the caller runs it
(`unflushed`). Files that are no longer needed are renamed to `.deleted` at once, and removed by a
`tick` after `file.delete.delay.ms`, so that readers can finish. Segments are deleted from the ends
of the log inwards, so that an interruption leaves no gap. A truncation is flushed before anything
is appended in its place: first the removed names of later segments, then the shortened file. (Kafka
does not flush it. But a loss of power could undo the truncation and keep a segment that was begun
after it: one log with two histories, and no leader epoch to detect it.)
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter

from kafkadouble.wire.batch import read_header
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.client_log import ClientLog

from ..config import LogConfig
from ..formats import epoch_checkpoint, producer_snapshot
from ..formats.errors import BadFile
from ..formats.names import CLEANED, DELETED, KINDS, LEADER_EPOCH, PARTITION_METADATA, SNAPSHOT, SWAP, segment_name
from ..offset_and_epoch import OffsetAndEpoch
from ..producers import ProducerStateEntry
from ..storage import Flush, LogAppendInfo, LogSegment
from ..transactions import AbortedTransaction
from .disk import Disk, FlushStep
from .flush_ledger import FlushLedger, FlushPlan
from .indexed import UNBOUNDED
from .segment import FileSegment

_LOGGER = ClientLog("kafkadouble.server.log")

_base_offset = attrgetter("base_offset")

EndsAt = Callable[[int], None]
"""Called with the new end of a log after a truncation, before anything is appended there."""


class FileStorage:
    """All files of one log, in `folder` of the disk."""

    __slots__ = ("_closed", "_disk", "_ends_at", "_put_aside", "_settings", "folder", "ledger", "segments", "snapshots")

    def __init__(self, disk: Disk, folder: str, config: LogConfig, ends_at: EndsAt) -> None:
        self._disk, self.folder, self._settings, self._ends_at = disk, folder, config, ends_at
        # Oldest first, never empty once the log is open; only the last one grows.
        self.segments: list[FileSegment] = []
        self.ledger = FlushLedger[FileSegment](folder, "", [PARTITION_METADATA])
        self.snapshots: list[int] = []  # offsets of the producer snapshots, ascending
        self._closed = False
        # Files to be removed, and the time (ms) from which `file.delete.delay.ms` counts.
        self._put_aside: list[tuple[str, int | None]] = []

    @property
    def recovery_point(self) -> int:
        return self.ledger.recovery_point

    def append(self, batch: Buffer, info: LogAppendInfo, now: int) -> None:
        active = self.segments[-1]
        if not active.size and len(self.segments) == 1:
            self._flush_topic_id()
        active.append(batch, info, now)

    def _flush_topic_id(self) -> None:
        """Flushes the file that says of which topic the records are, as in Kafka before the first
        of them: a start takes records without this file for those of no topic."""
        path = f"{self.folder}/{PARTITION_METADATA}"
        if self._disk.exists(path):
            self._disk.open(path).flush()
            self._disk.flush_folder(self.folder)

    def roll(self, base_offset: int, config: LogConfig) -> None:
        self._settings = config
        active = self.segments[-1]
        if active.size or active.base_offset != base_offset:
            active.finish()
            self._begin(base_offset)

    def _begin(self, base_offset: int) -> None:
        """Begins an empty segment. Files of an earlier one at the same offset are emptied."""
        segment = self.segment(base_offset)
        segment.begin(self._settings.segment_index_bytes)
        if self._settings.preallocate:
            segment.log.preallocate(self._settings.segment_bytes)
        self.segments.append(segment)
        self.ledger.name_added()

    def segment(self, base_offset: int, limit: int = UNBOUNDED, mark: str = "") -> FileSegment:
        """The segment of this base offset, which may not exist yet."""
        return FileSegment(self._disk, self.folder, base_offset, limit, self._settings.index_interval_bytes, mark)

    def drop_oldest(self, count: int) -> None:
        count = min(count, len(self.segments) - 1)
        dropped = self.segments[:count]
        del self.segments[:count]
        for segment in dropped:
            self._drop(segment)

    def _drop(self, segment: FileSegment) -> None:
        self._put_aside += [(path, None) for path in segment.put_aside()]
        self.ledger.name_removed()
        if segment.base_offset in self.snapshots:
            self._drop_snapshot(segment.base_offset)

    def _drop_snapshot(self, offset: int) -> None:
        path = self.snapshot_path(offset)
        self._disk.rename(path, path + DELETED)
        self._put_aside.append((path + DELETED, None))
        self.ledger.name_removed()
        self.snapshots.remove(offset)

    def drop_newest(self, count: int) -> None:
        """Deletes that many segments, from the end, and flushes that."""
        for _ in range(count):
            self._drop(self.segments.pop())
        if count:
            self._disk.flush_folder(self.folder)

    def distrust_snapshots_after(self, offset: int) -> None:
        """Removes the producer snapshots after `offset`: they may describe a history that is
        lost."""
        later = bisect_right(self.snapshots, offset)
        for snapshot in self.snapshots[later:]:
            self._disk.remove(self.snapshot_path(snapshot))
            self.ledger.name_removed()
        del self.snapshots[later:]

    def drop_stray_snapshots(self, end: int) -> None:
        """Keeps only the snapshots at the base offset of a segment, and the newest at or before the
        end of the log."""
        bases = {segment.base_offset for segment in self.segments}
        newest = max((snapshot for snapshot in self.snapshots if snapshot <= end), default=end)
        for snapshot in [each for each in self.snapshots if each != newest and (each > end or each not in bases)]:
            self._drop_snapshot(snapshot)

    @property
    def most_index_bytes(self) -> int:
        """The largest size of an index of the active segment, in bytes."""
        return self._settings.segment_index_bytes

    def first_past(self, recovery_point: int) -> int:
        """The number of the first segment that needs recovery: the one that was active at the last
        flush, though it may have ended there. Only its batches were flushed."""
        return max(0, bisect_left(self.segments, recovery_point, key=_base_offset) - 1)

    def truncate(self, offset: int) -> None:
        keep = max(1, bisect_right(self.segments, offset, key=_base_offset))
        self.drop_newest(len(self.segments) - keep)
        for snapshot in self.snapshots[bisect_right(self.snapshots, offset) :]:
            self._drop_snapshot(snapshot)
        self.segments[-1].truncate(offset, self._settings.segment_index_bytes)
        self.ledger.cut(self.segments[-1].next_offset)
        self._ends_at(self.segments[-1].next_offset)

    def restart(self, offset: int) -> None:
        self.drop_newest(len(self.segments))
        for snapshot in list(self.snapshots):
            self._drop_snapshot(snapshot)
        self._begin(offset)
        self.ledger.restart(offset)
        self._ends_at(offset)

    def release(self, offset: int) -> None:
        """Does nothing: files free space by whole segments only."""

    def write_leader_epochs(self, entries: Sequence[OffsetAndEpoch], *, flush: bool = False) -> None:
        # A new log has no batch that could lack its epoch, and the name of its folder is not
        # flushed either.
        self._write(LEADER_EPOCH, epoch_checkpoint.write(entries), flush=flush and not self.ledger.is_new)

    def _write(self, name: str, data: bytes, *, flush: bool = False) -> None:
        self._disk.write_whole(f"{self.folder}/{name}", data, flush=flush)
        if not flush:
            self.ledger.file_written(name)

    def take_producer_snapshot(self, offset: int, producers: Iterable[ProducerStateEntry]) -> None:
        if offset in self.snapshots or offset == self.segments[0].base_offset:  # nothing new
            return
        entries = map(producer_snapshot.entry_of, producers)
        self._write(f"{segment_name(offset)}{SNAPSHOT}", producer_snapshot.write(entries))
        insort(self.snapshots, offset)

    def snapshot_path(self, offset: int) -> str:
        """The path of the producer snapshot at this offset."""
        return f"{self.folder}/{segment_name(offset)}{SNAPSHOT}"

    def list_aborted(self, transaction: AbortedTransaction) -> None:
        self.segments[-1].list_aborted(transaction)
        self.ledger.name_added()  # its file may be new

    def latest_producer_snapshot(self, offset: int) -> tuple[int, list[ProducerStateEntry]] | None:
        while self.snapshots and (place := bisect_right(self.snapshots, offset)):
            snapshot = self.snapshots[place - 1]
            path = self.snapshot_path(snapshot)
            try:
                entries = producer_snapshot.read(self._disk.read_whole(path), path)
            except BadFile as problem:
                _LOGGER.warning("a producer snapshot is ignored: %s", problem)
                self._drop_snapshot(snapshot)
            else:
                return snapshot, [producer_snapshot.producer_of(entry) for entry in entries]
        return None

    def unflushed(self) -> Flush | None:
        if self._closed:
            return None
        dirty = [segment for segment in self.segments if not segment.durable]
        plan = self.ledger.begin(self.segments[-1].next_offset, dirty)
        return None if plan is None else Flush(plan.end, self._steps(plan))

    def _steps(self, plan: FlushPlan[FileSegment]) -> list[FlushStep]:
        files = [file for segment in plan.segments for file in segment.files()]
        small = [f"{self.folder}/{name}" for name in plan.files]
        files += [self._disk.open(path) for path in small if self._disk.exists(path)]
        return [file.flushing() for file in files] + [self._disk.flushing_folder(folder) for folder in plan.folders]

    def flushed(self, offset: int) -> None:
        self.ledger.confirm(offset)

    def rewrite(self, segments: Sequence[LogSegment], config: LogConfig) -> FileSegmentRewriter:
        self._settings = config
        first = bisect_left(self.segments, segments[0].base_offset, key=_base_offset)
        return FileSegmentRewriter(self, self.segments[first : first + len(segments)])

    def replace(self, replaced: Sequence[FileSegment], made: FileSegment) -> None:
        """Replaces segments by a finished one, which is marked `.cleaned`."""
        made.move(SWAP)
        first = self.segments.index(replaced[0])
        self.segments[first : first + len(replaced)] = [made]
        for segment in reversed(replaced):
            self._put_aside += [(path, None) for path in segment.put_aside()]
            if segment.base_offset != made.base_offset and segment.base_offset in self.snapshots:
                self._drop_snapshot(segment.base_offset)
        made.move("")
        self._disk.flush_folder(self.folder)

    def remove_marked(self, base_offset: int, mark: str) -> None:
        """Removes the files of a segment that is not in use."""
        for kind in KINDS:
            self._disk.remove(f"{self.folder}/{segment_name(base_offset)}{kind}{mark}")

    def tick(self, now: int, config: LogConfig) -> None:
        waiting = [(path, now if since is None else since) for path, since in self._put_aside]
        self._put_aside = [each for each in waiting if now - each[1] < config.file_delete_delay_ms]
        for path, since in waiting:
            if now - since >= config.file_delete_delay_ms:
                self._disk.remove(path)

    def rename_folder(self, folder: str) -> None:
        for segment in self.segments:
            segment.close()
        self._disk.rename(self.folder, folder)
        self._put_aside = [(path.replace(self.folder, folder, 1), since) for path, since in self._put_aside]
        self.folder = folder
        for segment in self.segments:
            segment.moved(folder)
        self.ledger.moved(folder)

    def close(self, *, flush: bool = True) -> None:
        if not flush:
            self._closed = True
            for segment in self.segments:
                segment.close()
            return
        for segment in self.segments:
            segment.finish()
        work = self.unflushed()
        if work is not None:
            work.run()
            self.flushed(work.offset)
        for segment in self.segments:
            segment.close()
        self._closed = True

    @property
    def overhead(self) -> int:
        """The memory that its indexes take, in bytes."""
        return self.segments[-1].overhead

    def __repr__(self) -> str:
        size = sum(segment.size for segment in self.segments)
        return f"{-(-size // 1024)} KB in {len(self.segments)} files"


class FileSegmentRewriter:
    """Writes a segment, in files marked `.cleaned`, that replaces others; see
    `storage.SegmentRewriter`."""

    def __init__(self, storage: FileStorage, old: Sequence[FileSegment]) -> None:
        self._storage, self._old = storage, old
        storage.remove_marked(old[0].base_offset, CLEANED)
        self._new: FileSegment | None = storage.segment(old[0].base_offset, old[-1].limit, CLEANED)
        self._new.begin(UNBOUNDED, old[-1].modified)

    def append(self, batch: Buffer) -> None:
        assert self._new is not None
        header = read_header(batch)
        info = LogAppendInfo(
            header.base_offset, header.last_offset, header.partition_leader_epoch, header.max_timestamp
        )
        self._new.append(batch, info, self._old[-1].modified)

    def finish(self, aborted: Sequence[AbortedTransaction]) -> None:
        new, self._new = self._new, None
        assert new is not None
        for transaction in aborted:
            new.list_aborted(transaction)
        new.finish()
        for file in new.files():
            file.flush()
        new.durable, new.limit = True, self._old[-1].limit
        self._storage.replace(self._old, new)

    def drop(self) -> None:
        new, self._new = self._new, None
        if new is not None:
            new.close()
            self._storage.remove_marked(new.base_offset, CLEANED)
