"""The image of what is committed: it follows what the quorum tells, batch by batch, or snapshot by snapshot (KIP-595, KIP-630, KIP-631).

Rules. What the log holds at the start is read at once, committed or not, so that a log or a snapshot that cannot be understood stops the node
before it votes; it is shown when it is committed, without being read again. What this node decided itself is not read back. A record that has
no meaning here is the end of the node: its image would not be the others'.
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
from ..raft.snapshots.store import SnapshotStore
from ..requests.stopwatch import stopped
from .broken_log import BrokenLog
from .image import EMPTY, Image
from .internal_topics import METADATA_TOPIC
from .metadata_log import decoded
from .replay import Fold

if TYPE_CHECKING:
    from .changed_records import ChangedRecords


class Decided(NamedTuple):
    """A decision that was appended: the image as it is when it is committed, which is up to `after.end`, and its records."""

    after: Image
    records: Sequence[Message]


class Change(NamedTuple):
    """An image and the next. `records` lie between them; None when the image was loaded as a whole."""

    before: Image
    after: Image
    records: Sequence[Message] | None


class Committed:
    """`image` is what is committed. `stopwatch` tells the time (ms) while a snapshot is
    loaded. `changed`, if given, follows every image since the last snapshot. WireError, BadFile or
    BrokenLog when what is there at the start cannot be understood."""

    def __init__(
        self,
        log: PartitionLog,
        snapshots: SnapshotStore,
        stopwatch: Callable[[], int] = stopped,
        changed: ChangedRecords | None = None,
    ) -> None:
        self._log, self._snapshots, self._stopwatch, self.changed = log, snapshots, stopwatch, changed
        self.load_ms = 0  # how long it took to load the last snapshot
        ids = snapshots.ids()
        self.timestamp = 0  # of the last record that was told (ms)
        self._base = ids[-1] if ids else BOOTSTRAP
        self._fold = Fold()
        self._ahead: Fold | None = self._read(self._base, None)  # what the log holds, until it is committed
        if self._ahead.image.end == EMPTY.end:
            self._ahead = None

    @property
    def image(self) -> Image:
        return self._fold.image

    @property
    def fold(self) -> Fold:
        return self._fold

    def load(self, id: OffsetAndEpoch) -> Change | None:
        """A snapshot stands for everything up to its end. None when that was read already."""
        if self._ahead is not None and id == self._base:
            return None
        before, self._ahead, self._base = self.image, None, id
        self._fold = self._from_snapshot(id)
        return Change(before, self.image, None)

    def follow(self, batches: Buffer, decided: deque[Decided]) -> list[Change]:
        """These batches are committed. `decided`: what of them is known without being read, in order."""
        found = []
        for position, header in iter_batches(batches):
            change = self._next(batches, position, header, decided)
            if change is not None:
                found.append(change)
        return found

    def _next(self, batches: Buffer, position: int, header: BatchHeader, decided: deque[Decided]) -> Change | None:
        end = OffsetAndEpoch(header.next_offset, header.partition_leader_epoch)
        self.timestamp = header.max_timestamp
        if self._ahead is not None:
            if end.offset < self._ahead.image.end.offset:
                return None
            ahead, self._ahead = self._ahead, None
            if end == ahead.image.end:
                before, self._fold = self.image, ahead
                return Change(before, self.image, None)
            self._fold = self._read(self._base, header.base_offset)  # the log was cut meanwhile
        before = self.image
        if decided and decided[0].after.end.offset <= end.offset:
            after, records = decided.popleft()
            self._fold = Fold(after)
            self._count_changed(before, after, records)
            return Change(before, after, records)
        batch = memoryview(batches)[position : position + header.size]
        if not header.crc and not header.is_control:  # written by this node: as others see it, it has a checksum
            batch = memoryview(self._log.read(header.base_offset, header.size, end.offset).records)
        [read] = decoded(batch)
        for record in read.records:
            self._fold.apply(record)
        self._fold.image = self.image._replace(end=end)
        self._count_changed(before, self.image, read.records)
        return Change(before, self.image, read.records) if read.records else None

    def _count_changed(self, before: Image, after: Image, records: Sequence[Message]) -> None:
        if self.changed is not None:
            self.changed.follow(before, after, records)

    def _read(self, base: OffsetAndEpoch, until: int | None) -> Fold:
        """The fold of a snapshot, and of the log after it, up to the offset `until` if there is one."""
        fold = self._from_snapshot(base)
        for stretch in self._log.batches(max(base.offset, self._log.log_start_offset)):
            for read in decoded(stretch):
                if until is not None and read.end.offset > until:
                    return fold
                if read.end.offset > base.offset:
                    before = fold.image
                    try:
                        for record in read.records:
                            fold.apply(record)
                    except BrokenLog as problem:
                        where = f"in the batch that ends before offset {read.end.offset}"
                        raise BadFile(f"{problem}, {where}", file=METADATA_TOPIC) from problem
                    fold.image = fold.image._replace(end=read.end)
                    self._count_changed(before, fold.image, read.records)
        return fold

    def _from_snapshot(self, id: OffsetAndEpoch) -> Fold:
        """What the one that a directory was formatted with holds, a new cluster's leader writes into the log."""
        self.load_ms = 0
        image = None if id == BOOTSTRAP or id not in self._snapshots.ids() else self._image_of(id)
        if self.changed is not None:
            self.changed.restart(image)
        return Fold() if image is None else Fold(image)

    def _image_of(self, id: OffsetAndEpoch) -> Image:
        from .snapshots import image_of

        reader = self._snapshots.open(id)
        assert reader is not None
        began = self._stopwatch()
        with reader:
            image = image_of(reader)
        self.load_ms = self._stopwatch() - began
        return image

    def __repr__(self) -> str:
        return repr(self.image)
