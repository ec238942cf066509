"""The metadata log of the quorum: a PartitionLog, its snapshots, and the voters that its control
records name.

Committed records are never truncated: a truncation below the high watermark is a DivergedLog, which
stops this replica (KIP-595). A follower's batches continue the log without a gap, in epochs that
never fall; their control records are read before anything is appended. Snapshots are only known by
id here; `snapshots` reads and writes them (KIP-630).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple, Protocol

from kafkadouble.messages import error_codes
from kafkadouble.wire.batch import Record, control_record, encode_batch, read_header
from kafkadouble.wire.checksum import Buffer

from ..log.log import PartitionLog
from ..log.offset_and_epoch import UNDEFINED, OffsetAndEpoch
from ..log.producers import AppendOrigin
from ..log.refusals import AppendRefused
from ..log.replica import checked_batches
from ..log.storage import Flush, Slice
from .control_records import Control, VoterControlRecord, read_control_record, read_control_records
from .voter_history import VoterHistory
from .voters import VoterSet

BOOTSTRAP = OffsetAndEpoch(0, 0)
"""The id of the snapshot that a directory is formatted with: it is not sent to other replicas
(KIP-853).
"""

MAX_BATCH_SIZE_BYTES = 64 << 20
"""Followers fetch a batch in one frame of at most 100 MB: a larger batch would never reach them."""


class LogSnapshots(Protocol):
    """The snapshots of this log."""

    def ids(self) -> Sequence[OffsetAndEpoch]:
        """The complete snapshots, oldest first, with the bootstrap snapshot."""
        ...

    def open(self, id: OffsetAndEpoch) -> Any:
        """A reader for the listener; None if the snapshot is gone."""
        ...

    def voters_of(self, id: OffsetAndEpoch) -> tuple[VoterSet | None, int]:
        """The voters in its header batch, if any, and the `kraft.version`."""
        ...


class NoSnapshots:
    """A log without snapshots."""

    def ids(self) -> Sequence[OffsetAndEpoch]:
        return ()

    def open(self, id: OffsetAndEpoch) -> None:
        return None

    def voters_of(self, id: OffsetAndEpoch) -> tuple[VoterSet | None, int]:
        return None, 0


class FollowerPosition(Enum):
    """The end of a follower's log, compared with the leader's log."""

    VALID = "valid"
    DIVERGING = "diverging"
    SNAPSHOT = "needs a snapshot"


class ValidOffsetAndEpoch(NamedTuple):
    """`at` is the offset to truncate to (DIVERGING), or the id of the snapshot to fetch
    (SNAPSHOT).
    """

    position: FollowerPosition
    at: OffsetAndEpoch = UNDEFINED


VALID = ValidOffsetAndEpoch(FollowerPosition.VALID)


class DivergedLog(Exception):
    """The leader contradicts committed records of this replica, or the directory lacks what it must
    hold: this replica stops.
    """


class FlushableStorage(Protocol):
    """Storage of a log that can be flushed."""

    def unflushed(self) -> Flush | None: ...

    def flushed(self, offset: int) -> None: ...


class RaftLog:
    """`log` with its voters. `storage` is the storage of `log`, None if nothing needs to be
    flushed.
    """

    def __init__(
        self,
        log: PartitionLog,
        static: VoterSet,
        snapshots: LogSnapshots | None = None,
        storage: FlushableStorage | None = None,
    ) -> None:
        self.log, self.snapshots = log, snapshots or NoSnapshots()
        self._storage = storage
        self.history = VoterHistory(static)
        # the high watermark that the leader reported; -1 before
        self.known_high_watermark = -1
        self._start()

    def _start(self) -> None:
        """Reads the voters from the newest snapshot and the log after it."""
        latest, log = self.latest_snapshot, self.log
        if log.log_start_offset > 0 and (latest is None or latest.offset < log.log_start_offset):
            raise DivergedLog(f"the log starts at {log.log_start_offset}, and there is no snapshot up to there")
        if latest is not None:
            # the process stopped after it fetched the snapshot, and before it truncated the log
            if self.lacks(latest):
                log.truncate_fully_and_start_at(latest.offset)
            self.history.restart(latest.offset, *self.snapshots.voters_of(latest))
        log.high_watermark = log.log_start_offset if latest is None else latest.offset
        start = log.log_start_offset if latest is None else max(latest.offset, log.log_start_offset)
        for batch in log.batches(start):
            self._apply_control_records(read_control_records(batch))
        # an earlier process may have appended without a flush, and the next fetch confirms the log
        # promise too much
        self.flush()

    @property
    def start_offset(self) -> int:
        return self.log.log_start_offset

    @property
    def end_offset(self) -> int:
        return self.log.log_end_offset

    @property
    def last_epoch(self) -> int:
        """The epoch of the last record; for an empty log that of the snapshot, or 0 (KIP-630)."""
        if self.log.epochs.latest >= 0 and self.log.epochs.latest_start < self.end_offset:
            return self.log.epochs.latest
        epoch = self.log.epochs.epoch_for(self.end_offset - 1) if self.end_offset > self.start_offset else -1
        if epoch >= 0:
            return epoch
        latest = self.latest_snapshot
        return latest.epoch if latest is not None and latest.offset == self.end_offset else 0

    @property
    def end(self) -> OffsetAndEpoch:
        """The end offset and the last epoch, as compared in elections."""
        return OffsetAndEpoch(self.end_offset, self.last_epoch)

    @property
    def high_watermark(self) -> int:
        return self.log.high_watermark

    def commit(self, offset: int) -> None:
        """A majority of voters has everything before `offset`. The high watermark never falls."""
        if offset > self.log.high_watermark:
            self.log.high_watermark = offset
        self.known_high_watermark = max(self.known_high_watermark, offset)

    @property
    def latest_snapshot(self) -> OffsetAndEpoch | None:
        """The id of the newest snapshot, possibly the bootstrap snapshot."""
        ids = self.snapshots.ids()
        return ids[-1] if ids else None

    @property
    def earliest_snapshot(self) -> OffsetAndEpoch | None:
        """The oldest snapshot from which the log continues; older ones may still exist for a
        while.
        """
        return next((id for id in self.snapshots.ids() if id.offset >= self.start_offset), None)

    def validate(self, offset: int, epoch: int) -> ValidOffsetAndEpoch:
        """Whether a follower whose log ends at `offset`, after a record of `epoch`, may fetch, must
        truncate, or needs a snapshot.
        """
        latest, earliest = self.latest_snapshot, self.earliest_snapshot
        if offset == 0 and latest is not None and latest != BOOTSTRAP:
            return ValidOffsetAndEpoch(FollowerPosition.SNAPSHOT, latest)
        if self.start_offset == 0 and offset == 0:
            return VALID
        if latest is not None and earliest is not None and self._is_before(offset, epoch, earliest):
            return ValidOffsetAndEpoch(FollowerPosition.SNAPSHOT, latest)
        end = self.end_of_epoch(epoch)
        if end.epoch != epoch or end.offset < offset:
            return ValidOffsetAndEpoch(FollowerPosition.DIVERGING, end)
        return VALID

    def _is_before(self, offset: int, epoch: int, earliest: OffsetAndEpoch) -> bool:
        start = self.start_offset
        return offset < start or (offset == start and epoch != earliest.epoch) or epoch < earliest.epoch

    def end_of_epoch(self, epoch: int) -> OffsetAndEpoch:
        """The largest epoch up to `epoch` in this log, and its end offset; the log's end if `epoch`
        is newer than all.
        """
        found = self.log.end_offset_for_epoch(epoch)
        if found == UNDEFINED:
            return self.end
        earliest = self.earliest_snapshot
        if earliest is not None and found.offset == earliest.offset and found.epoch == epoch != earliest.epoch:
            return earliest  # older than the log: it is in the snapshot
        return found

    def read(self, offset: int, max_bytes: int, committed: bool = False) -> Slice:
        """Whole batches from `offset` on, at least one: up to the end of the log, or up to the high
        watermark.
        """
        return self.log.read(offset, max_bytes, self.high_watermark if committed else self.end_offset)

    def read_for_itself(self, offset: int, max_bytes: int) -> Slice:
        """Committed batches for this node; its own may still have the checksum 0."""
        return self.log.read(offset, max_bytes, self.high_watermark, sealed=False)

    def begin_epoch(self, epoch: int) -> None:
        """This replica leads in `epoch`."""
        self.log.begin_epoch(epoch)

    def append_values(self, values: Sequence[bytes], epoch: int, now: int) -> OffsetAndEpoch:
        """Appends one batch; returns the offset and epoch of its last record."""
        first = self.end_offset
        records = [Record(first + at, now, None, value) for at, value in enumerate(values)]
        return self._append(encode_batch(records, base_offset=first, seal=False), epoch, now)

    def append_control(self, controls: Sequence[Control], epoch: int, now: int) -> OffsetAndEpoch:
        """Appends one control batch, which applies at once."""
        first = self.end_offset
        records = [control_record(first + at, now, kind, value) for at, (kind, value) in enumerate(controls)]
        batch = encode_batch(records, base_offset=first, is_control=True, seal=False)
        placed = self._append(batch, epoch, now)
        self._apply_control_records(
            [
                parsed
                for at, control in enumerate(controls)
                if (parsed := read_control_record(first + at, *control)) is not None
            ]
        )
        return placed

    def _append(self, batch: bytearray, epoch: int, now: int) -> OffsetAndEpoch:
        if len(batch) > MAX_BATCH_SIZE_BYTES:
            raise AppendRefused(error_codes.RECORD_LIST_TOO_LARGE, f"a batch of {len(batch)} bytes of metadata")
        result = self.log.append_own(batch, leader_epoch=epoch, now=now, origin=AppendOrigin.RAFT)
        return OffsetAndEpoch(result.last_offset, epoch)

    def append_as_follower(self, batches: Buffer, epoch: int, now: int) -> int:
        """Appends batches of the leader of `epoch`; returns the number of bytes. AppendRefused or
        WireError before anything is appended.
        """
        whole = self._checked(batches, epoch)
        if not whole:
            return 0
        parsed = read_control_records(whole)
        self.log.append_as_follower(whole, now=now, leader_epoch=epoch)
        self._apply_control_records(parsed)
        return len(whole)

    def _checked(self, batches: Buffer, epoch: int) -> memoryview:
        """The batches that may be appended, without those of a later epoch, and without an
        incomplete one.
        """
        due, last, end = self.end_offset, self.last_epoch, 0
        for position, header in checked_batches(batches, epoch, due):
            if header.base_offset != due:
                raise AppendRefused(
                    error_codes.UNKNOWN_SERVER_ERROR, f"a batch at offset {header.base_offset}, where {due} is due"
                )
            if header.partition_leader_epoch < last:
                raise AppendRefused(
                    error_codes.UNKNOWN_SERVER_ERROR, f"epoch {header.partition_leader_epoch} after epoch {last}"
                )
            if header.count != header.last_offset_delta + 1:
                raise AppendRefused(
                    error_codes.INVALID_RECORD, f"{header.count} records over {header.last_offset_delta + 1} offsets"
                )
            due, last, end = header.next_offset, header.partition_leader_epoch, position + header.size
        return memoryview(batches)[:end]

    def _apply_control_records(self, parsed: Sequence[VoterControlRecord]) -> None:
        for record in parsed:
            if record.voters is not None:
                self.history.set_voters(record.offset, record.voters)
            if record.kraft_version is not None:
                self.history.set_kraft_version(record.offset, record.kraft_version)

    def truncate_to_end_of(self, end: OffsetAndEpoch) -> int:
        """The leader's `end.epoch` ends at `end.offset`: truncates records beyond it, or of other
        epochs. Returns the new end.
        """
        ours = self.end_of_epoch(end.epoch)
        offset = min(end.offset, ours.offset) if ours.epoch == end.epoch else ours.offset
        offset = self._at_batch(offset)
        if offset < self.high_watermark:
            raise DivergedLog(f"the log would be cut at {offset}, and it is committed up to {self.high_watermark}")
        self.log.truncate_to(offset)
        self.history.truncate(offset)
        return offset

    def _at_batch(self, offset: int) -> int:
        """The base offset of the batch at this offset: only whole batches are truncated."""
        if self.start_offset < offset < self.end_offset:
            for batch in self.log.batches(offset):
                return min(offset, read_header(batch).base_offset)
        return offset

    def start_from_snapshot(self, id: OffsetAndEpoch) -> bool:
        """A fetched snapshot replaces the log. False if the log has its records, or other committed
        ones.
        """
        if id.offset <= self.high_watermark or not self.lacks(id):
            return False
        self.log.truncate_fully_and_start_at(id.offset)
        self.history.restart(id.offset, *self.snapshots.voters_of(id))
        return True

    def lacks(self, id: OffsetAndEpoch) -> bool:
        """Whether the log does not hold the records of a snapshot: it ends before, or has another
        epoch there. A snapshot is committed, so other records at its offsets are not, however many
        they are.
        """
        if id.offset <= self.start_offset:
            return False
        if id.offset > self.end_offset:
            return True
        epoch = self.log.epochs.epoch_for(id.offset - 1)
        return id.epoch > self.last_epoch if epoch < 0 else epoch != id.epoch

    def move_start(self, id: OffsetAndEpoch) -> None:
        """Moves the log start offset to the end of this snapshot."""
        if id.offset > self.start_offset:
            self.log.delete_records_before(id.offset)
            self.history.forget_before(id.offset)
            self.delete_old_segments()

    def delete_old_segments(self) -> int:
        """Deletes segments that are completely before the log start offset; returns their number
        (KIP-630).
        """
        return self.log.delete_old_segments()

    def flush(self) -> None:
        """Flushes appended records. DiskFailure."""
        flush = None if self._storage is None else self._storage.unflushed()
        if flush is not None and self._storage is not None:
            flush.run()
            self._storage.flushed(flush.offset)

    def __repr__(self) -> str:
        return f"metadata log {self.start_offset}..{self.end_offset}, committed to {self.high_watermark}"
