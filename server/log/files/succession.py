"""In which leader epochs the batches were written that an unclean stop has left, and whether they can be of one history.

The epochs are those of the batches, whatever `leader-epoch-checkpoint` says: of a log that was cut and goes on, power may leave the file as
it was before, or take it. (Kafka only adds epochs that are later than all that it knows, and so such a file outlives the recovery.) Of a log
that was written by somebody who flushes no cut, power may also leave segments that a cut had removed behind what came after it: each batch is
good then, but epochs never fall in one log.
"""

from __future__ import annotations

from kafkadouble.wire.batch import BatchHeader

from ..epochs import LeaderEpochCache
from ..offset_and_epoch import NO_EPOCH


class Succession:
    """One batch after the other. `epochs` learn from them."""

    def __init__(self, epochs: LeaderEpochCache, recovery_point: int) -> None:
        self.epochs, self._recovery_point = epochs, recovery_point
        self._epoch, self._end = NO_EPOCH, 0  # of the batch before

    def problem(self, header: BatchHeader) -> str:
        """Why a batch does not follow on the one before it; "" when it does, or when that one was flushed as the last."""
        epoch = header.partition_leader_epoch
        if 0 <= epoch < self._epoch and self._end > self._recovery_point:
            return f"epoch {epoch} after epoch {self._epoch}"
        return ""

    def take(self, header: BatchHeader) -> None:
        """It is part of the log."""
        if header.partition_leader_epoch >= 0:
            self.epochs.believe(header.partition_leader_epoch, header.base_offset, header.last_offset)
            self._epoch, self._end = header.partition_leader_epoch, header.next_offset
