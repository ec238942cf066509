"""Records the batches and snapshots that a listener receives, and the resulting state. Checks their
order: each offset once, and each loss of leadership after its gain."""

from __future__ import annotations

from typing import NamedTuple

from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.log.storage import Slice
from kafkadouble.server.raft.raft_log import BOOTSTRAP
from kafkadouble.server.raft.snapshots.snapshot_reader import RecordsSnapshotReader
from kafkadouble.wire.batch import iter_batches

from .state import State
from .world import Broken


class Delivered(NamedTuple):
    """A batch or a snapshot that the listener received, with the offset and the state after it."""

    batch: bytes  # empty for a snapshot
    end: OffsetAndEpoch
    digest: int
    state: State | None = None  # after a snapshot


class StateListener:
    """The listener of one run of a node; `take` returns what has arrived since its last call."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.end = BOOTSTRAP
        self.state = State()
        self.timestamp = 0  # the append timestamp of the last record
        self.bytes = 0  # the bytes that were committed in this run
        self.leads: int | None = None  # the epoch in which this node leads, or None
        # Last offset of a pending append -> its epoch and its values.
        self.awaited: dict[int, tuple[int, list[bytes]]] = {}
        self.acknowledged: list[tuple[OffsetAndEpoch, list[bytes]]] = []
        self._new: list[Delivered] = []

    def committed(self, batches: Slice) -> None:
        if batches.offset != self.end.offset:
            raise Broken(f"{self.name} gets offset {batches.offset}, where {self.end.offset} is due")
        for position, header in iter_batches(batches.records):
            batch = bytes(batches.records[position : position + header.size])
            self.state.apply_batch(batch)
            self.end = OffsetAndEpoch(header.next_offset, header.partition_leader_epoch)
            self.timestamp = max(self.timestamp, header.max_timestamp)
            self.bytes += len(batch)
            self._new.append(Delivered(batch, self.end, self.state.digest))
            self._answer(header.next_offset - 1, header.partition_leader_epoch)

    def _answer(self, last_offset: int, epoch: int) -> None:
        """Completes the pending append at this offset. It is acknowledged only if its record was
        committed, and not a record of another epoch at the same offset."""
        append_epoch, values = self.awaited.pop(last_offset, (-1, []))
        if append_epoch == epoch:
            self.acknowledged.append((OffsetAndEpoch(last_offset, epoch), values))

    def snapshot_loaded(self, reader: RecordsSnapshotReader) -> None:
        with reader:
            if reader.id.offset < self.end.offset:
                raise Broken(f"{self.name} gets {reader!r} after offset {self.end.offset}")
            if reader.id == BOOTSTRAP:  # the bootstrap snapshot names only the voters
                return
            self.end, self.timestamp = reader.id, reader.head.timestamp
            self.state = State.loaded(value for values in reader.values() for value in values)
        self._new.append(Delivered(b"", self.end, self.state.digest, self.state.copy()))

    def became_leader(self, epoch: int) -> None:
        if self.leads is not None:
            raise Broken(f"{self.name} becomes the leader of epoch {epoch}, and it led in {self.leads} already")
        if self.end.epoch != epoch:
            raise Broken(f"{self.name} becomes the leader of epoch {epoch}, and has the records up to {self.end!r}")
        self.leads = epoch

    def lost_leadership(self, epoch: int) -> None:
        if self.leads != epoch:
            raise Broken(f"{self.name} loses epoch {epoch}, and it led in {self.leads}")
        self.leads = None

    def take(self) -> list[Delivered]:
        taken, self._new = self._new, []
        return taken
