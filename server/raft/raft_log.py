"""The metadata log as the quorum sees it: a PartitionLog, the snapshots that stand for its beginning, and the voters that it names.

Rules. What is committed is never cut off: a truncation below the high watermark is a Diverged, and so the end of this replica (KIP-595). A
follower's batches go on where the log ends, without a gap, in epochs that never fall; they are read as far as the quorum must understand them
before the first byte is appended. Snapshots are only asked for by id here; `snapshots` reads and writes them (KIP-630).
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
"""The id of the snapshot that a directory is formatted with: it is never offered to others, nor served (KIP-853)."""

EVERYTHING = 2**63 - 1

MAX_BATCH_SIZE_BYTES = 64 << 20
"""Of one batch. Followers fetch a batch as a whole, in one frame, which has 100 MB at most: a larger one would never reach them."""


class LogSnapshots(Protocol):
    """The snapshots of this log, as far as the quorum must know them."""

    def ids(self) -> Sequence[OffsetAndEpoch]:
        """Those that are complete, oldest first; the bootstrap one among them."""
        ...

    def open(self, id: OffsetAndEpoch) -> Any:
        """A reader, for the listener; None when it is gone."""
        ...

    def voters_of(self, id: OffsetAndEpoch) -> tuple[VoterSet | None, int]:
        """What its header batch says: the voters, if it names any, and the `kraft.version`."""
        ...


class NoSnapshots:
    """A log that is kept from its beginning on."""

    def ids(self) -> Sequence[OffsetAndEpoch]:
        return ()

    def open(self, id: OffsetAndEpoch) -> None:
        return None

    def voters_of(self, id: OffsetAndEpoch) -> tuple[VoterSet | None, int]:
        return None, 0


class FollowerPosition(Enum):
    """What a leader thinks of a follower's end."""

    VALID = "valid"
    DIVERGING = "diverging"
    SNAPSHOT = "needs a snapshot"


class ValidOffsetAndEpoch(NamedTuple):
    """`at` is where to truncate to (DIVERGING), or the id of the snapshot to take (SNAPSHOT)."""

    position: FollowerPosition
    at: OffsetAndEpoch = UNDEFINED


VALID = ValidOffsetAndEpoch(FollowerPosition.VALID)


class DivergedLog(Exception):
    """A leader's history contradicts what this replica knows to be committed, or a directory what it must hold: it cannot go on."""


class FlushableStorage(Protocol):
    """The part of a log's storage that makes it outlive the machine."""

    def unflushed(self) -> Flush | None: ...

    def flushed(self, offset: int) -> None: ...


class RaftLog:
    """`log` with its voters. `storage` is what `log` was made with, None where nothing has to be flushed."""

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
        self.known_high_watermark = -1  # as far as we were told that it is committed; -1 before anybody has told us
        self._start()

    def _start(self) -> None:
        """Read what the newest snapshot, and the log after it, say of the voters."""
        latest, log = self.latest_snapshot, self.log
        if log.log_start_offset > 0 and (latest is None or latest.offset < log.log_start_offset):
            raise DivergedLog(f"the log starts at {log.log_start_offset}, and there is no snapshot up to there")
        if latest is not None:
            if self.lacks(latest):  # the snapshot had come, and the process died before the log made room for it
                log.truncate_fully_and_start_at(latest.offset)
            self.history.restart(latest.offset, *self.snapshots.voters_of(latest))
        log.high_watermark = log.log_start_offset if latest is None else latest.offset
        start = log.log_start_offset if latest is None else max(latest.offset, log.log_start_offset)
        for batch in log.batches(start):
            self._apply_control_records(read_control_records(batch))
        self.flush()  # a process that died may have written this and not flushed it: to fetch from its end would promise too much

    @property
    def start_offset(self) -> int:
        return self.log.log_start_offset

    @property
    def end_offset(self) -> int:
        return self.log.log_end_offset

    @property
    def last_epoch(self) -> int:
        """The epoch of the last record; an empty log goes by the snapshot before it, and without one by 0 (KIP-630)."""
        if self.log.epochs.latest >= 0 and self.log.epochs.latest_start < self.end_offset:
            return self.log.epochs.latest
        epoch = self.log.epochs.epoch_for(self.end_offset - 1) if self.end_offset > self.start_offset else -1
        if epoch >= 0:
            return epoch
        latest = self.latest_snapshot
        return latest.epoch if latest is not None and latest.offset == self.end_offset else 0

    @property
    def end(self) -> OffsetAndEpoch:
        """What this replica stands for in an election: its end offset, and the epoch of what lies before it."""
        return OffsetAndEpoch(self.end_offset, self.last_epoch)

    @property
    def high_watermark(self) -> int:
        return self.log.high_watermark

    def commit(self, offset: int) -> None:
        """Everything below is on a majority of voters; it never moves back."""
        if offset > self.log.high_watermark:
            self.log.high_watermark = offset
        self.known_high_watermark = max(self.known_high_watermark, offset)

    @property
    def latest_snapshot(self) -> OffsetAndEpoch | None:
        """The newest snapshot's id, the bootstrap one included."""
        ids = self.snapshots.ids()
        return ids[-1] if ids else None

    @property
    def earliest_snapshot(self) -> OffsetAndEpoch | None:
        """The oldest that the log goes on from: one that ends before the log begins may still be there for a while, and says nothing."""
        return next((id for id in self.snapshots.ids() if id.offset >= self.start_offset), None)

    def validate(self, offset: int, epoch: int) -> ValidOffsetAndEpoch:
        """Where a follower stands whose log ends at `offset`, after a record of `epoch`: may it go on, must it cut, or take a snapshot."""
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
        """The largest epoch up to `epoch` that this log has, and where it ends; our end for one that is newer than all."""
        found = self.log.end_offset_for_epoch(epoch)
        if found == UNDEFINED:
            return self.end
        earliest = self.earliest_snapshot
        if earliest is not None and found.offset == earliest.offset and found.epoch == epoch != earliest.epoch:
            return earliest  # older than the oldest in the log: what came before is in the snapshot
        return found

    def read(self, offset: int, max_bytes: int, committed: bool = False) -> Slice:
        """Whole batches from `offset` on, at least one: up to the end of the log, or of what is committed."""
        return self.log.read(offset, max_bytes, self.high_watermark if committed else self.end_offset)

    def read_for_itself(self, offset: int, max_bytes: int) -> Slice:
        """What is committed, for this node: its own batches may have no checksum yet, and then it is 0."""
        return self.log.read(offset, max_bytes, self.high_watermark, sealed=False)

    def begin_epoch(self, epoch: int) -> None:
        """This replica leads in `epoch`."""
        self.log.begin_epoch(epoch)

    def append_values(self, values: Sequence[bytes], epoch: int, now: int) -> OffsetAndEpoch:
        """One batch: it holds as a whole or not at all. The place of its last record."""
        first = self.end_offset
        records = [Record(first + at, now, None, value) for at, value in enumerate(values)]
        return self._append(encode_batch(records, base_offset=first, seal=False), epoch, now)

    def append_control(self, controls: Sequence[Control], epoch: int, now: int) -> OffsetAndEpoch:
        """One control batch of these, which count from now on."""
        first = self.end_offset
        records = [control_record(first + at, now, kind, value) for at, (kind, value) in enumerate(controls)]
        batch = encode_batch(records, base_offset=first, is_control=True, seal=False)
        placed = self._append(batch, epoch, now)
        self._apply_control_records(
            [
                said
                for at, control in enumerate(controls)
                if (said := read_control_record(first + at, *control)) is not None
            ]
        )
        return placed

    def _append(self, batch: bytearray, epoch: int, now: int) -> OffsetAndEpoch:
        if len(batch) > MAX_BATCH_SIZE_BYTES:
            raise AppendRefused(error_codes.RECORD_LIST_TOO_LARGE, f"a batch of {len(batch)} bytes of metadata")
        result = self.log.append_own(batch, leader_epoch=epoch, now=now, origin=AppendOrigin.RAFT)
        return OffsetAndEpoch(result.last_offset, epoch)

    def append_as_follower(self, batches: Buffer, epoch: int, now: int) -> int:
        """What a leader of `epoch` sent; how many bytes were taken. AppendRefused or WireError before anything is."""
        whole = self._checked(batches, epoch)
        if not whole:
            return 0
        said = read_control_records(whole)
        self.log.append_as_follower(whole, now=now, leader_epoch=epoch)
        self._apply_control_records(said)
        return len(whole)

    def _checked(self, batches: Buffer, epoch: int) -> memoryview:
        """The batches that may be appended, without those of a later epoch and without one that is cut off."""
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

    def _apply_control_records(self, said: Sequence[VoterControlRecord]) -> None:
        for each in said:
            if each.voters is not None:
                self.history.set_voters(each.offset, each.voters)
            if each.kraft_version is not None:
                self.history.set_kraft_version(each.offset, each.kraft_version)

    def truncate_to_end_of(self, end: OffsetAndEpoch) -> int:
        """A leader says that its `end.epoch` ends at `end.offset`: cut what goes beyond, or what is of other epochs. The new end."""
        ours = self.end_of_epoch(end.epoch)
        offset = min(end.offset, ours.offset) if ours.epoch == end.epoch else ours.offset
        offset = self._at_batch(offset)
        if offset < self.high_watermark:
            raise DivergedLog(f"the log would be cut at {offset}, and it is committed up to {self.high_watermark}")
        self.log.truncate_to(offset)
        self.history.truncate(offset)
        return offset

    def _at_batch(self, offset: int) -> int:
        """Where the batch begins that this offset lies in: a batch goes as a whole."""
        if self.start_offset < offset < self.end_offset:
            for batch in self.log.batches(offset):
                return min(offset, read_header(batch).base_offset)
        return offset

    def start_from_snapshot(self, id: OffsetAndEpoch) -> bool:
        """A snapshot has come of what the log lacks: everything before it goes. False when the log has it, or something else is committed."""
        if id.offset <= self.high_watermark or not self.lacks(id):
            return False
        self.log.truncate_fully_and_start_at(id.offset)
        self.history.restart(id.offset, *self.snapshots.voters_of(id))
        return True

    def lacks(self, id: OffsetAndEpoch) -> bool:
        """Whether the log does not hold what a snapshot stands for: it ends before, or has another history there. What is in a snapshot is
        committed, so whatever else stands at those offsets is not, however long it goes on."""
        if id.offset <= self.start_offset:
            return False
        if id.offset > self.end_offset:
            return True
        epoch = self.log.epochs.epoch_for(id.offset - 1)
        return id.epoch > self.last_epoch if epoch < 0 else epoch != id.epoch

    def move_start(self, id: OffsetAndEpoch) -> None:
        """The log may begin where this snapshot ends."""
        if id.offset > self.start_offset:
            self.log.delete_records_before(id.offset)
            self.history.forget_before(id.offset)
            self.delete_old_segments()

    def delete_old_segments(self) -> int:
        """Delete the segments that lie wholly before the log start offset; their number (KIP-630)."""
        return self.log.delete_old_segments()

    def flush(self) -> None:
        """What was appended outlives the machine from now on. DiskFailure when it does not."""
        flush = None if self._storage is None else self._storage.unflushed()
        if flush is not None and self._storage is not None:
            flush.run()
            self._storage.flushed(flush.offset)

    def __repr__(self) -> str:
        return f"metadata log {self.start_offset}..{self.end_offset}, committed to {self.high_watermark}"
