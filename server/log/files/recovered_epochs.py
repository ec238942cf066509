"""Collects the leader epochs of the batches that an unclean stop left, and checks that they can be
of one history.

The epochs are those of the batches, whatever `leader-epoch-checkpoint` says: after a truncation, a
loss of power may leave an older version of this file, or none. (Kafka only adds epochs that are
later than all in the file, so a stale file survives its recovery.) A log of another program, which
flushes no truncation, may also have segments that a truncation had deleted, after batches that were
appended later. Each of these batches is good, but epochs never fall within one log.
"""

from __future__ import annotations

from kafkadouble.wire.batch import BatchHeader

from ..epochs import LeaderEpochCache
from ..offset_and_epoch import NO_EPOCH


class RecoveredEpochs:
    """Takes one batch after the other, and brings `epochs` in line with them."""

    def __init__(self, epochs: LeaderEpochCache, recovery_point: int) -> None:
        self.epochs, self._recovery_point = epochs, recovery_point
        self._epoch, self._end = NO_EPOCH, 0  # of the previous batch

    def problem(self, header: BatchHeader) -> str:
        """Why a batch cannot follow the previous one; "" when it can, or when the previous one was
        the last that was flushed."""
        epoch = header.partition_leader_epoch
        if 0 <= epoch < self._epoch and self._end > self._recovery_point:
            return f"epoch {epoch} after epoch {self._epoch}"
        return ""

    def take(self, header: BatchHeader) -> None:
        """Counts the batch as part of the log."""
        if header.partition_leader_epoch >= 0:
            self.epochs.believe(header.partition_leader_epoch, header.base_offset, header.last_offset)
            self._epoch, self._end = header.partition_leader_epoch, header.next_offset
