"""A log's storage in files: Kafka's own, in the partition's folder.

Rules; see `storage` for those of every storage. Whatever is acknowledged has been handed to the system, so that it outlives the process; to
outlive the machine it must be flushed, which is somebody else's to do (`unflushed`): it takes long. Files that are no longer wanted are marked
`.deleted` at once, and removed by a `tick` when `file.delete.delay.ms` is over, so that who reads them can end. Segments go from the ends of
the log inwards, so that an interruption leaves no hole. What is cut off is gone for good before anything is appended in its place: it is
flushed at once, first that later segments are gone, then the cut. (Kafka leaves that to chance. But power could take the cut back and leave
a segment that was begun behind it: two histories in one log, that no leader epoch tells from the leader's.)
"""

from __future__ import annotations

import logging
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import attrgetter

from kafkadouble.wire.batch import read_header
from kafkadouble.wire.checksum import Buffer

from ..config import LogConfig
from ..formats import epoch_checkpoint, producer_snapshot
from ..formats.errors import BadFile
from ..formats.names import CLEANED, DELETED, KINDS, LEADER_EPOCH, PARTITION_METADATA, SNAPSHOT, SWAP, segment_name
from ..offset_and_epoch import OffsetAndEpoch
from ..producers import Producer
from ..storage import Flush, Placed, Segment
from ..transactions import AbortedTransaction
from .disk import Disk, Flushing
from .flush_ledger import FlushLedger, FlushPlan
from .indexed import UNBOUNDED
from .segment import FileSegment

_LOGGER = logging.getLogger("kafkadouble.server.log")

_base_offset = attrgetter("base_offset")

EndsAt = Callable[[int], None]
"""Is told where a log ends that was cut, before anything is appended there."""


class FileStorage:
    """All files of one log, in `folder` of the disk."""

    __slots__ = ("_disk", "_ends_at", "_put_aside", "_settings", "folder", "ledger", "segments", "snapshots")

    def __init__(self, disk: Disk, folder: str, config: LogConfig, ends_at: EndsAt) -> None:
        self._disk, self.folder, self._settings, self._ends_at = disk, folder, config, ends_at
        self.segments: list[FileSegment] = []  # oldest first, never empty once the log is open; only the last one grows
        self.ledger = FlushLedger[FileSegment](folder, "", [PARTITION_METADATA])
        self.snapshots: list[int] = []  # the offsets of the producer snapshots, ascending
        self._put_aside: list[tuple[str, int | None]] = []  # files to be removed, and since when (ms) they may be

    @property
    def recovery_point(self) -> int:
        return self.ledger.recovery_point

    def append(self, batch: Buffer, placed: Placed, now: int) -> None:
        self.segments[-1].append(batch, placed, now)

    def roll(self, base_offset: int, config: LogConfig) -> None:
        self._settings = config
        active = self.segments[-1]
        if active.size or active.base_offset != base_offset:
            active.finish()
            self._begin(base_offset)

    def _begin(self, base_offset: int) -> None:
        """An empty segment, and its files, of which nothing may be left from another time."""
        segment = self.segment(base_offset)
        segment.begin(self._settings.segment_index_bytes)
        self.segments.append(segment)
        self.ledger.name_added()

    def segment(self, base_offset: int, limit: int = UNBOUNDED, mark: str = "") -> FileSegment:
        """The segment that lies there, or will."""
        return FileSegment(self._disk, self.folder, base_offset, limit, self._settings.index_interval_bytes, mark)

    def drop_oldest(self, count: int) -> None:
        count = min(count, len(self.segments) - 1)
        gone = self.segments[:count]
        del self.segments[:count]
        for segment in gone:
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
        """Delete that many segments, from the end, for good."""
        for _ in range(count):
            self._drop(self.segments.pop())
        if count:
            self._disk.flush_folder(self.folder)

    def distrust_snapshots_after(self, offset: int) -> None:
        """What they say that the producers were at later offsets may have been so of another log than is there."""
        later = bisect_right(self.snapshots, offset)
        for snapshot in self.snapshots[later:]:
            self._disk.remove(self.snapshot_path(snapshot))
            self.ledger.name_removed()
        del self.snapshots[later:]

    def drop_stray_snapshots(self, end: int) -> None:
        """Of the snapshots only those stay where a segment begins, and the newest that is not past the log's end."""
        bases = {segment.base_offset for segment in self.segments}
        newest = max((each for each in self.snapshots if each <= end), default=end)
        for snapshot in [each for each in self.snapshots if each != newest and (each > end or each not in bases)]:
            self._drop_snapshot(snapshot)

    @property
    def compacts(self) -> bool:
        """Whether offsets may be missing between its batches."""
        return self._settings.compacts

    @property
    def most_index_bytes(self) -> int:
        """How large an index of the active segment may be."""
        return self._settings.segment_index_bytes

    def first_past(self, recovery_point: int) -> int:
        """The number of the first segment that may not be as it should: the one that was written to last when the flush was done, though it
        may have ended just there. Of that one only the batches were flushed."""
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
        """Files give back room by whole segments only."""

    def keep_epochs(self, entries: Sequence[OffsetAndEpoch], *, flush: bool = False) -> None:
        # a new log has no batch that an epoch could be missing for, and its folder is not flushed either
        self._write(LEADER_EPOCH, epoch_checkpoint.write(entries), flush=flush and not self.ledger.is_new)

    def _write(self, name: str, data: bytes, *, flush: bool = False) -> None:
        self._disk.write_whole(f"{self.folder}/{name}", data, flush=flush)
        if not flush:
            self.ledger.file_written(name)

    def keep_producers(self, offset: int, producers: Iterable[Producer]) -> None:
        if (
            offset in self.snapshots or offset == self.segments[0].base_offset
        ):  # known already, or there is nothing to know
            return
        entries = map(producer_snapshot.entry_of, producers)
        self._write(f"{segment_name(offset)}{SNAPSHOT}", producer_snapshot.write(entries))
        insort(self.snapshots, offset)

    def snapshot_path(self, offset: int) -> str:
        """Where the snapshot of the producers at this offset is."""
        return f"{self.folder}/{segment_name(offset)}{SNAPSHOT}"

    def list_aborted(self, transaction: AbortedTransaction) -> None:
        self.segments[-1].list_aborted(transaction)
        self.ledger.name_added()  # its file may be new

    def producers_at(self, offset: int) -> tuple[int, list[Producer]] | None:
        while self.snapshots and (place := bisect_right(self.snapshots, offset)):
            found = self.snapshots[place - 1]
            path = self.snapshot_path(found)
            try:
                entries = producer_snapshot.read(self._disk.read_whole(path), path)
            except BadFile as problem:
                _LOGGER.warning("a producer snapshot is passed over: %s", problem)
                self._drop_snapshot(found)
            else:
                return found, [producer_snapshot.producer_of(entry) for entry in entries]
        return None

    def unflushed(self) -> Flush | None:
        dirty = [segment for segment in self.segments if not segment.durable]
        plan = self.ledger.begin(self.segments[-1].next_offset, dirty)
        return None if plan is None else Flush(plan.end, self._steps(plan))

    def _steps(self, plan: FlushPlan[FileSegment]) -> list[Flushing]:
        files = [file for segment in plan.segments for file in segment.files()]
        small = [f"{self.folder}/{name}" for name in plan.files]
        files += [self._disk.open(path) for path in small if self._disk.exists(path)]
        return [file.flushing() for file in files] + [partial(self._disk.flush_folder, each) for each in plan.folders]

    def flushed(self, offset: int) -> None:
        self.ledger.confirm(offset)

    def rewrite(self, segments: Sequence[Segment], config: LogConfig) -> FileRewriting:
        self._settings = config
        first = bisect_left(self.segments, segments[0].base_offset, key=_base_offset)
        return FileRewriting(self, self.segments[first : first + len(segments)])

    def replace(self, replaced: Sequence[FileSegment], made: FileSegment) -> None:
        """Put a finished segment, marked `.cleaned`, in the place of others."""
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
        """Remove the files of a segment that is not in its place."""
        for kind in KINDS:
            self._disk.remove(f"{self.folder}/{segment_name(base_offset)}{kind}{mark}")

    def tick(self, now: int, config: LogConfig) -> None:
        waiting = [(path, now if since is None else since) for path, since in self._put_aside]
        self._put_aside = [each for each in waiting if now - each[1] < config.file_delete_delay_ms]
        for path, since in waiting:
            if now - since >= config.file_delete_delay_ms:
                self._disk.remove(path)

    def close(self, *, flush: bool = True) -> None:
        if not flush:
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

    @property
    def overhead(self) -> int:
        """Bytes that its indexes take in memory."""
        return self.segments[-1].overhead

    def __repr__(self) -> str:
        size = sum(segment.size for segment in self.segments)
        return f"{-(-size // 1024)} KB in {len(self.segments)} files"


class FileRewriting:
    """A segment in files marked `.cleaned`, that will take the place of others; see `storage.Rewriting`."""

    def __init__(self, storage: FileStorage, old: Sequence[FileSegment]) -> None:
        self._storage, self._old = storage, old
        storage.remove_marked(old[0].base_offset, CLEANED)
        self._new: FileSegment | None = storage.segment(old[0].base_offset, old[-1].limit, CLEANED)
        self._new.begin(UNBOUNDED)

    def append(self, batch: Buffer) -> None:
        assert self._new is not None
        header = read_header(batch)
        placed = Placed(header.base_offset, header.last_offset, header.partition_leader_epoch, header.max_timestamp)
        self._new.append(batch, placed, self._old[-1].modified)

    def finish(self) -> None:
        new, self._new = self._new, None
        assert new is not None
        for segment in self._old:
            for transaction in segment.aborted():
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
