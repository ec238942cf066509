"""A `.log` with its two indexes, and what happens when an index is wrong.

Rules. An entry of an index is used only after a look at the batch that it leads to: offset and
timestamp must be those of the batch header. An index that is wrong or missing is rebuilt from the
batches, with a warning. BadFile, with the position, where a batch should begin and none does.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkadouble.wire.client_log import ClientLog

from ..formats import offset_index, time_index
from ..formats.errors import BadFile
from ..formats.names import INDEX, LOG, TIME_INDEX, segment_name
from .disk import Disk, File
from .indexes import GrowingIndex, Index, StoredIndex
from .walking import BatchPosition, BatchWalk

_LOGGER = ClientLog("kafkadouble.server.log")

UNBOUNDED = 2**63 - 1

_THOROUGHLY, _SAMPLES = 4 << 20, 64
"""How many bytes after the last entry of the time index are searched for later timestamps. In a
longer part so many batches are sampled."""


class IndexedLog:
    """The files of the segment from `base_offset` in `folder`. Its offsets are below `limit`; the
    index has an entry every `interval` bytes. The file names end with `mark` until the segment is
    in use."""

    __slots__ = (
        "_ascends",
        "_disk",
        "_folder",
        "_index",
        "_interval",
        "_mark",
        "base_offset",
        "durable",
        "full",
        "limit",
        "log",
        "size",
    )

    def __init__(
        self, disk: Disk, folder: str, base_offset: int, limit: int = UNBOUNDED, interval: int = 4096, mark: str = ""
    ) -> None:
        self._disk, self._folder, self._mark = disk, folder, mark
        self.base_offset, self.limit, self._interval = base_offset, limit, interval
        self.log = disk.open(self.path(LOG))
        self.size = self.log.size
        self.durable = False  # it is closed, and all of it was flushed
        self.full = False  # its index has no room for another entry
        self._index: Index | None = None
        self._ascends = False  # whether the stored index is known to be in order

    def path(self, kind: str) -> str:
        """The path of its file of this kind."""
        return f"{self._folder}/{segment_name(self.base_offset)}{kind}{self._mark}"

    @property
    def index(self) -> Index:
        if self._index is None:
            if not (self._disk.exists(self.path(INDEX)) and self._disk.exists(self.path(TIME_INDEX))):
                return self._mend("is missing")
            files = self._index_files()
            if files[0].size % offset_index.SIZE or files[1].size % time_index.SIZE:
                return self._mend("ends within an entry")
            self._index = StoredIndex(self.base_offset, *files)
        return self._index

    def _index_files(self) -> tuple[File, File]:
        return self._disk.open(self.path(INDEX)), self._disk.open(self.path(TIME_INDEX))

    def moved(self, folder: str) -> None:
        """Its folder was renamed, while its files were closed."""
        self._folder = folder
        self.log.moved(self.path(LOG))
        if isinstance(self._index, GrowingIndex):
            self._index.moved(self.path(INDEX), self.path(TIME_INDEX))

    @property
    def overhead(self) -> int:
        """The memory that its index takes, in bytes."""
        return self._index.overhead if isinstance(self._index, GrowingIndex) else 0

    def find(self, offset: int) -> int:
        """The position of the batch that holds `offset`, or of the first batch after it; `size`
        when there is none."""
        entry = self.index.before(offset)
        if entry is not None and not self._is_batch_start(entry.position, entry.offset):
            entry = self._mend(f"leads from offset {entry.offset} to position {entry.position}").before(offset)
        for position in self.batch_positions(entry.position if entry else 0):
            if position.last_offset >= offset:
                return position.position
        return self.size

    def entry_from(self, offset: int) -> int | None:
        return self.index.entry_from(offset)

    def latest_batch(self) -> bytes | None:
        """The first batch that has the largest timestamp; None when none has one."""
        latest, _ = self._find_latest()
        if latest < 0:
            return None
        places = self.batch_positions(self.first_reaching(latest))
        place = next((each for each in places if each.max_timestamp == latest), None)
        return None if place is None else self.log.read(place.position, place.size)

    def _position_before(self, position: int) -> int:
        """The position of a batch before this position, by the index; 0 when the index has none."""
        found = self.index.position_before(position)
        if found and not self._is_batch_start(found):
            found = self._mend(f"has the position {found}, where no batch begins").position_before(position)
        return found

    def first_reaching(self, timestamp: int) -> int:
        """The position before which no batch is as late as `timestamp`."""
        index = self.index
        if isinstance(index, StoredIndex) and not self._ascends:
            if not index.ascends():
                index = self._mend("is not in the order of time")
            self._ascends = True
        entry = index.at(timestamp)
        if entry is None:
            return 0
        position = self.find(entry.offset)
        if not self._has_timestamp(position, entry.timestamp):
            entry = self._mend(f"has the timestamp {entry.timestamp} for offset {entry.offset}").at(timestamp)
            position = self.find(entry.offset) if entry else 0
        return position

    def _find_latest(self) -> tuple[int, int]:
        """The largest timestamp, and the last offset of the first batch that has it; -1 when none
        has one."""
        entry = self.index.latest
        position = self.find(entry.offset) if entry else 0
        if entry and not self._has_timestamp(position, entry.timestamp):
            entry = self._mend(f"has the timestamp {entry.timestamp} for offset {entry.offset}").latest
        elif entry and self._has_later(position, entry.timestamp):
            entry = self._mend(f"ends with the timestamp {entry.timestamp}, and there are later ones").latest
        latest, offset = (entry.timestamp, entry.offset) if entry else (-1, self.base_offset)
        if self.size - position > _THOROUGHLY and entry:
            position = self._position_before(self.size)
        for place in self.batch_positions(position):
            if place.max_timestamp > latest:
                latest, offset = place.max_timestamp, place.last_offset
        return latest, offset

    def _has_later(self, position: int, timestamp: int) -> bool:
        """Whether the time index ends too early: in a part that is too long to be searched, by
        samples."""
        if self.size - position <= _THOROUGHLY:
            return False
        step = (self.size - position) // _SAMPLES
        samples = (self._position_before(position + number * step) for number in range(1, _SAMPLES))
        return any(self._timestamp(sample) > timestamp for sample in samples)

    def _find_end(self) -> int:
        """One past the last offset."""
        found = self.base_offset
        for position in self.batch_positions(self._position_before(self.size)):
            found = position.last_offset + 1
        return found

    def _timestamp(self, position: int) -> int:
        """The largest timestamp of the batch at this position."""
        return next(self.batch_positions(position)).max_timestamp

    def _has_timestamp(self, position: int, timestamp: int) -> bool:
        return position < self.size and self._timestamp(position) == timestamp

    def _is_batch_start(self, position: int, offset: int | None = None) -> bool:
        """Whether a batch begins at this position, with a base offset of at most `offset`."""
        if not 0 <= position < self.size:
            return False
        try:
            place = next(self.batch_positions(position), None)
        except BadFile:
            return False
        return place is not None and (offset is None or place.base_offset <= offset)

    def _walk(self, position: int) -> BatchWalk:
        return BatchWalk(self.path(LOG), position, self.size, self.base_offset, self.limit)

    def batch_positions(self, position: int = 0) -> Iterator[BatchPosition]:
        """Every batch at or after `position`, by reading headers."""
        return self._walk(position).over(self.log)

    def _mend(self, why: str) -> Index:
        """Rebuilds the indexes from the batches, up to the first position without one."""
        _LOGGER.warning("the index of %s %s: it is rebuilt", self.path(LOG), why)
        grows, most = isinstance(self._index, GrowingIndex), UNBOUNDED
        if isinstance(self._index, GrowingIndex):
            most = self._index.most
        made = GrowingIndex(self.base_offset, *self._index_files(), most)
        made.clear()
        latest, latest_offset, since = -1, self.base_offset, 0
        try:
            for position in self.batch_positions(0):
                if position.max_timestamp > latest:
                    latest, latest_offset = position.max_timestamp, position.last_offset
                if since > self._interval:
                    made.add(position.last_offset, position.position, latest, latest_offset)
                    since = 0
                since += position.size
        except BadFile as problem:
            _LOGGER.error("%s", problem)
        if not grows:
            made.add_time(latest, latest_offset)
        made.write()
        self.durable = False
        self._index = made if grows else StoredIndex(self.base_offset, *self._index_files())
        return self._index
