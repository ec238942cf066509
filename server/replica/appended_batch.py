"""A batch that was appended to a partition, and waits until every in-sync replica has it (Kafka's
DelayedProduce).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes

from ..requests.waiting import Until, Wait

if TYPE_CHECKING:
    from .replica_manager import ReplicaManager
    from .replication.partition import Partition

PENDING = -2
"""An outcome that is not known yet; not an error code."""


class AppendedBatch:
    """The last batch of a partition at the time of the call."""

    __slots__ = ("_end", "_epoch", "_partition", "_partitions")

    def __init__(self, partitions: ReplicaManager, partition: Partition) -> None:
        self._partitions, self._partition = partitions, partition
        self._epoch, self._end = partition.log.epochs.latest, partition.log.log_end_offset

    def outcome(self) -> int:
        """Returns the error code, or PENDING while the batch is not committed.

        A batch that was truncated, and perhaps written again, is lost.
        """
        partition = self._partition
        if partition.offline:
            return error_codes.KAFKA_STORAGE_ERROR
        if self._partitions.get(partition.topic, partition.index) is not partition:
            return self._partitions.code_of_missing(partition.topic, partition.index)
        if partition.log.end_offset_for_epoch(self._epoch).offset < self._end:
            return error_codes.NOT_LEADER_OR_FOLLOWER
        return error_codes.NONE if partition.high_watermark >= self._end else PENDING

    def committed(self, deadline: int) -> Wait[int]:
        """Waits for the outcome, until `deadline` (ms): then it is REQUEST_TIMED_OUT."""
        while (code := self.outcome()) == PENDING:
            if not (yield Until(deadline, (self._partition.waiters,))):
                return error_codes.REQUEST_TIMED_OUT
        return code
