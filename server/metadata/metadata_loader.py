"""Loads the committed metadata into an image: batch by batch, or from a snapshot (KIP-595, KIP-630,
KIP-631).

The whole log is replayed at the start, committed or not, so that an unreadable log or snapshot
stops the node before it votes; the result is published when it is committed, without a second
replay. Records that this node appended itself are not read back. An unknown record stops the node:
its image would differ from those of the other nodes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.messages.message import Message
from kafkadouble.wire.batch import BatchHeader, iter_batches
from kafkadouble.wire.checksum import Buffer

from ..log.formats.errors import BadFile
from ..log.log import PartitionLog
from ..log.offset_and_epoch import OffsetAndEpoch
from ..raft.raft_log import BOOTSTRAP
from ..requests.stopwatch import stopped
from .broken_log import BrokenLog
from .image import EMPTY, Image
from .internal_topics import METADATA_TOPIC
from .metadata_log import decode_batches
from .replay import MetadataDelta

if TYPE_CHECKING:
    from ..raft.snapshots.store import SnapshotStore
    from .changed_records import ChangedRecords


class UncommittedBatch(NamedTuple):
    """A batch that this node appended: the image once it is committed up to `after.end`, and its
    records.
    """

    after: Image
    records: Sequence[Message]


class ImageChange(NamedTuple):
    """An image and the next one. `records` lie between them; None if the image was loaded from a
    snapshot.
    """

    before: Image
    after: Image
    records: Sequence[Message] | None


class MetadataLoader:
    """`image` is the committed image, and `delta` the same with an open transaction. `stopwatch`
    measures (ms) the load of a snapshot. `changed`, if given, tracks the changes since the last
    snapshot. WireError, BadFile or BrokenLog if the log or the snapshot cannot be understood at the
    start.
    """

    def __init__(
        self,
        log: PartitionLog,
        snapshots: SnapshotStore,
        stopwatch: Callable[[], int] = stopped,
        changed: ChangedRecords | None = None,
    ) -> None:
        self._log, self._snapshots, self._stopwatch, self.changed = log, snapshots, stopwatch, changed
        self.load_ms = 0  # the time to load the last snapshot
        ids = snapshots.ids()
        self.timestamp = 0  # of the last committed record (ms)
        self._snapshot_id = ids[-1] if ids else BOOTSTRAP
        self.delta = MetadataDelta()
        self._preloaded: MetadataDelta | None = self._replay_log(
            self._snapshot_id, None
        )  # the replayed log, until it is committed
        if self._preloaded.image.end == EMPTY.end:
            self._preloaded = None

    @property
    def image(self) -> Image:
        return self.delta.image

    def handle_load_snapshot(self, id: OffsetAndEpoch) -> ImageChange | None:
        """Replaces the image by a snapshot. None if the snapshot was loaded already."""
        if self._preloaded is not None and id == self._snapshot_id:
            return None
        before, self._preloaded, self._snapshot_id = self.image, None, id
        self.delta = self._load_snapshot(id)
        return ImageChange(before, self.image, None)

    def handle_commit(self, batches: Buffer, decided: deque[UncommittedBatch]) -> list[ImageChange]:
        """These batches are committed. `decided` are those that this node appended, in order: they
        are not read back.
        """
        changes = []
        for position, header in iter_batches(batches):
            change = self._handle_batch(batches, position, header, decided)
            if change is not None:
                changes.append(change)
        return changes

    def _handle_batch(
        self, batches: Buffer, position: int, header: BatchHeader, decided: deque[UncommittedBatch]
    ) -> ImageChange | None:
        end = OffsetAndEpoch(header.next_offset, header.partition_leader_epoch)
        self.timestamp = header.max_timestamp
        if self._preloaded is not None:
            if end.offset < self._preloaded.image.end.offset:
                return None
            ahead, self._preloaded = self._preloaded, None
            if end == ahead.image.end:
                before, self.delta = self.image, ahead
                return ImageChange(before, self.image, None)
            # the log was truncated meanwhile
            self.delta = self._replay_log(self._snapshot_id, header.base_offset)
        before = self.image
        if decided and decided[0].after.end.offset <= end.offset:
            after, records = decided.popleft()
            self.delta = MetadataDelta(after)
            self._count_changed(before, after, records)
            return ImageChange(before, after, records)
        batch = memoryview(batches)[position : position + header.size]
        # a batch of this node may have no checksum yet; read again, it has one
        if not header.crc and not header.is_control:
            batch = memoryview(self._log.read(header.base_offset, header.size, end.offset).records)
        [read] = decode_batches(batch)
        for record in read.records:
            self.delta.replay(record)
        self.delta.image = self.image._replace(end=end)
        self._count_changed(before, self.image, read.records)
        return ImageChange(before, self.image, read.records) if read.records else None

    def _count_changed(self, before: Image, after: Image, records: Sequence[Message]) -> None:
        if self.changed is not None:
            self.changed.follow(before, after, records)

    def _replay_log(self, base: OffsetAndEpoch, until: int | None) -> MetadataDelta:
        """Replays a snapshot and the log after it, up to the offset `until` if one is given."""
        delta = self._load_snapshot(base)
        for chunk in self._log.batches(max(base.offset, self._log.log_start_offset)):
            for read in decode_batches(chunk):
                if until is not None and read.end.offset > until:
                    return delta
                if read.end.offset > base.offset:
                    before = delta.image
                    try:
                        for record in read.records:
                            delta.replay(record)
                    except BrokenLog as problem:
                        where = f"in the batch that ends before offset {read.end.offset}"
                        raise BadFile(f"{problem}, {where}", file=METADATA_TOPIC) from problem
                    delta.image = delta.image._replace(end=read.end)
                    self._count_changed(before, delta.image, read.records)
        return delta

    def _load_snapshot(self, id: OffsetAndEpoch) -> MetadataDelta:
        """The bootstrap snapshot is not loaded: the first active controller writes its records into
        the log.
        """
        self.load_ms = 0
        image = None if id == BOOTSTRAP or id not in self._snapshots.ids() else self._image_of(id)
        if self.changed is not None:
            self.changed.restart(image)
        return MetadataDelta() if image is None else MetadataDelta(image)

    def _image_of(self, id: OffsetAndEpoch) -> Image:
        from .image_snapshots import load_image

        reader = self._snapshots.open(id)
        assert reader is not None
        began = self._stopwatch()
        with reader:
            image = load_image(reader)
        self.load_ms = self._stopwatch() - began
        return image

    def __repr__(self) -> str:
        return repr(self.image)
