"""A log's storage in files: Kafka's own, in the partition's folder.

Rules; see `storage` for those of every storage. Whatever is acknowledged has been handed to the system, so that it outlives the process; to
outlive the machine it must be flushed, which is somebody else's to do (`unflushed`): it takes long. Files that are no longer wanted are marked
`.deleted` at once, and removed by a `tick` when `file.delete.delay.ms` is over, so that who reads them can end. Segments go from the ends of
the log inwards, so that an interruption leaves no hole.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from operator import attrgetter

from kafkadouble.wire.checksum import Buffer

from ..config import LogConfig
from ..formats import epoch_checkpoint, producer_snapshot
from ..formats.names import DELETED, INDEX, LEADER_EPOCH, SNAPSHOT, TIME_INDEX, TXN_INDEX, segment_name
from ..offset_and_epoch import OffsetAndEpoch
from ..producers import Producer
from ..storage import Placed
from ..transactions import AbortedTransaction
from .disk import Disk
from .indexes import GrowingIndex
from .segment import FileSegment

_base_offset = attrgetter("base_offset")


class FileStorage:
    """All files of one log, in `folder` of the disk."""

    __slots__ = ("_disk", "_epochs", "_folder", "_put_aside", "_settings", "recovery_point", "segments", "snapshots")

    def __init__(self, disk: Disk, folder: str, config: LogConfig, segments: list[FileSegment]) -> None:
        self._disk, self._folder, self._settings = disk, folder, config
        self.segments = segments  # oldest first, never empty; only the last one grows
        self.recovery_point = 0  # everything below it was flushed
        self.snapshots: list[int] = []  # the offsets of the producer snapshots, ascending
        self._put_aside: list[tuple[str, int | None]] = []  # files to be removed, and since when (ms) they may be
        self._epochs: list[OffsetAndEpoch] | None = None  # those that were kept, as long as they are not flushed

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
        segment = FileSegment(self._disk, self._folder, base_offset, base_offset, self._settings.index_interval_bytes)
        begin(self._disk, segment, self._settings)
        self.segments.append(segment)

    def drop_oldest(self, count: int) -> None:
        count = min(count, len(self.segments) - 1)
        gone = self.segments[:count]
        del self.segments[:count]
        for segment in gone:
            self._drop(segment)

    def _drop(self, segment: FileSegment) -> None:
        self._put_aside += [(path, None) for path in segment.put_aside()]
        if segment.base_offset in self.snapshots:
            self._drop_snapshot(segment.base_offset)

    def _drop_snapshot(self, offset: int) -> None:
        path = self.snapshot_path(offset)
        self._disk.rename(path, path + DELETED)
        self._put_aside.append((path + DELETED, None))
        self.snapshots.remove(offset)

    def truncate(self, offset: int) -> None:
        keep = max(1, bisect_right(self.segments, offset, key=_base_offset))
        for segment in reversed(self.segments[keep:]):
            self._drop(segment)
        del self.segments[keep:]
        for snapshot in self.snapshots[bisect_right(self.snapshots, offset) :]:
            self._drop_snapshot(snapshot)
        self.segments[-1].truncate(offset, self._settings.segment_index_bytes)
        self.recovery_point = min(self.recovery_point, offset)

    def restart(self, offset: int) -> None:
        for segment in reversed(self.segments):
            self._drop(segment)
        for snapshot in list(self.snapshots):
            self._drop_snapshot(snapshot)
        self.segments.clear()
        self._begin(offset)
        self.recovery_point = min(self.recovery_point, offset)

    def release(self, offset: int) -> None:
        """Files give back room by whole segments only."""

    def keep_epochs(self, entries: Sequence[OffsetAndEpoch]) -> None:
        self._disk.write_whole(f"{self._folder}/{LEADER_EPOCH}", epoch_checkpoint.write(entries), flush=False)
        self._epochs = list(entries)

    def keep_producers(self, offset: int, producers: Iterable[Producer]) -> None:
        entries = map(producer_snapshot.entry_of, producers)
        self._disk.write_whole(self.snapshot_path(offset), producer_snapshot.write(entries), flush=False)
        if offset not in self.snapshots:
            insort(self.snapshots, offset)

    def snapshot_path(self, offset: int) -> str:
        """Where the snapshot of the producers at this offset is."""
        return f"{self._folder}/{segment_name(offset)}{SNAPSHOT}"

    def list_aborted(self, transaction: AbortedTransaction) -> None:
        self.segments[-1].list_aborted(transaction)

    def close(self) -> None:
        self.segments[-1].finish()
        for segment in self.segments:
            segment.close()

    @property
    def overhead(self) -> int:
        """Bytes that its indexes take in memory."""
        return self.segments[-1].overhead

    def __repr__(self) -> str:
        size = sum(segment.size for segment in self.segments)
        return f"{-(-size // 1024)} KB in {len(self.segments)} files"


def begin(disk: Disk, segment: FileSegment, config: LogConfig) -> None:
    """Let a new segment be appended to; an index without its segment may be left of an old one."""
    disk.remove(segment.path(TXN_INDEX))
    files = disk.open(segment.path(INDEX)), disk.open(segment.path(TIME_INDEX))
    index = GrowingIndex(segment.base_offset, *files, config.segment_index_bytes)
    index.clear()
    segment.activate(index)
