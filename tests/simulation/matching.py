"""Log matching: if two logs have a record with the same offset and epoch, they are equal up to
there (Raft, section 5.3).

Every batch that any replica ever had in its log is recorded once, by its offset and epoch: its
bytes, and the epoch of the record before it. A replica with a batch of that offset and epoch must
have the same bytes, after a record of the same epoch; by induction, everything before it is equal
too.
"""

from __future__ import annotations

from kafkadouble.server.raft.raft_log import RaftLog
from kafkadouble.wire.batch import iter_batches

from .world import Broken


class Matching:
    """`_known`: (offset, epoch) -> (batch, epoch of the record before)"""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[bytes, int]] = {}

    def look(self, name: str, log: RaftLog, seen: int) -> int:
        """Checks the batches since the log ended at `seen`; returns its present end."""
        end = log.end_offset
        offset = max(log.start_offset, min(seen, end))
        if offset == end:
            return end
        before = self._epoch_before(log, offset)
        while offset < end:
            found = log.read(offset, 1 << 20)
            for position, header in iter_batches(found.records):
                batch = bytes(found.records[position : position + header.size])
                self._match(name, (header.base_offset, header.partition_leader_epoch), batch, before)
                before = header.partition_leader_epoch
            offset = found.next_offset
        return end

    def _epoch_before(self, log: RaftLog, offset: int) -> int | None:
        """None where only a snapshot could have the epoch, and does not."""
        if offset > log.start_offset:
            return log.log.epochs.epoch_for(offset - 1)
        return next((id.epoch for id in log.snapshots.ids() if id.offset == offset), None)

    def _match(self, name: str, at: tuple[int, int], batch: bytes, before: int | None) -> None:
        known, previous = self._known.get(at, (batch, before))
        if known != batch:
            raise Broken(f"{name} has another batch at {at} (offset, epoch) than another replica")
        if before is not None and previous is not None and previous != before:
            raise Broken(f"{name} has {at} (offset, epoch) after epoch {before}, and another replica after {previous}")
        self._known[at] = batch, previous if previous is not None else before  # type: ignore[assignment]
