"""A log as a list of batches, which no cleaning changes: what a reader may see of a compacted log.

Nothing of the product is used here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class PlainRecord(NamedTuple):
    offset: int
    timestamp: int
    key: bytes
    value: bytes | None


class PlainBatch(NamedTuple):
    """A batch of the list. `commits` is None for data, otherwise the batch is a marker."""

    records: tuple[PlainRecord, ...]
    producer: int = -1
    sequence: int = -1
    epoch: int = 0
    is_transactional: bool = False
    commits: bool | None = None
    marker_offset: int = -1

    @property
    def base(self) -> int:
        return self.records[0].offset if self.records else self.marker_offset

    @property
    def last(self) -> int:
        return self.records[-1].offset if self.records else self.marker_offset


class PlainLog:
    """The batches that were appended and not truncated, from offset 0 on."""

    def __init__(self) -> None:
        self.batches: list[PlainBatch] = []
        self.start = self.end = self.watermark = 0
        self.epochs: list[tuple[int, int]] = []  # (start offset, epoch)

    def append(self, batch: PlainBatch, leader_epoch: int) -> None:
        if not self.epochs or self.epochs[-1][1] < leader_epoch:
            self.begin_epoch(leader_epoch)
        self.batches.append(batch)
        self.end = batch.last + 1

    def begin_epoch(self, leader_epoch: int) -> None:
        self.epochs = [epoch for epoch in self.epochs if epoch[0] < self.end]
        self.epochs.append((self.end, leader_epoch))

    def truncate(self, offset: int) -> None:
        self.batches = [batch for batch in self.batches if batch.last < offset]
        self.end, self.watermark = offset, min(self.watermark, offset)
        self.epochs = [epoch for epoch in self.epochs if epoch[0] < offset]

    def delete_before(self, offset: int) -> None:
        self.start = max(self.start, offset)
        older = [epoch for start, epoch in self.epochs if start <= self.start]
        later = [epoch for epoch in self.epochs if epoch[0] > self.start]
        self.epochs = [(self.start, older[-1]), *later] if older else later

    def transactions(self) -> Iterator[tuple[list[PlainBatch], PlainBatch | None]]:
        """The data of each transaction, and the marker that ended it."""
        open_ones: dict[int, list[PlainBatch]] = {}
        for batch in self.batches:
            if batch.commits is not None:
                if batch.producer in open_ones:
                    yield open_ones.pop(batch.producer), batch
            elif batch.is_transactional:
                open_ones.setdefault(batch.producer, []).append(batch)
        for data in open_ones.values():
            yield data, None

    @property
    def first_unstable(self) -> int | None:
        """The first offset of the oldest transaction that is open, or whose marker is not below the
        high watermark."""
        unstable = [
            data[0].base for data, end in self.transactions() if end is None or end.marker_offset >= self.watermark
        ]
        return min(unstable, default=None)

    def aborted(self) -> set[int]:
        """The offsets of all records of aborted transactions."""
        return {
            record.offset
            for data, end in self.transactions()
            if end is not None and end.commits is False
            for each in data
            for record in each.records
        }

    def records(self, end: int) -> list[PlainRecord]:
        """Every record from the log start offset on, of the batches that end below `end`."""
        return [
            record for each in self.batches if each.last < end for record in each.records if record.offset >= self.start
        ]

    def table(self, end: int) -> dict[bytes, PlainRecord]:
        """The last record of each key below `end` that is of no aborted transaction."""
        aborted = self.aborted()
        return {record.key: record for record in self.records(end) if record.offset not in aborted}

    def last_of(self, producer: int) -> PlainBatch | None:
        own = [batch for batch in self.batches if batch.producer == producer]
        data = [each for each in own if each.commits is None and each.epoch == own[-1].epoch]
        return data[-1] if data else None
