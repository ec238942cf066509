"""The future replica of a partition that moves to another log directory (KIP-113): it follows the
current log of its own broker, as a follower follows its leader.

Rules. Batches are copied byte for byte, with their offsets and epochs. If the current log was
truncated meanwhile, so is the future one, by the epochs of both. The log start offset and the
configuration follow the current log's.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from kafkadouble.messages.generated.fetch import FetchResponse

from ...log.divergence import FetchPositionKind, compare_with
from ...log.log import PartitionLog
from ...logs.future_logs import FutureLog
from .follower_partition import NO_EPOCH, FollowerPartition

NO_LEADER = -1


class FutureReplica(FollowerPartition):
    """The future replica of one partition. `future` says where it is; `on_flushed` is called after
    a flush. `was_flushed`: a flush was requested, and `is_flushing`: it is not done. `is_assigned`:
    the metadata have its directory; None until that is reported. `has_failed`: it cannot be filled,
    and waits until it is cancelled."""

    __slots__ = ("_on_flushed", "future", "has_failed", "is_assigned", "is_flushing", "was_flushed")

    def __init__(self, future: FutureLog, on_flushed: Callable[[], None]) -> None:
        super().__init__(future.topic_id, future.log, NO_LEADER, NO_EPOCH)
        self.future, self._on_flushed = future, on_flushed
        self.was_flushed = self.is_flushing = self.has_failed = False
        self.is_assigned: bool | None = None

    @property
    def key(self) -> tuple[str, int]:
        """Topic and partition."""
        return self.topic, self.index

    @property
    def path(self) -> str:
        """The absolute path of its directory."""
        return os.path.abspath(self.future.log_dir.path)

    @property
    def is_ready(self) -> bool:
        """Whether it waits for nothing: no flush, no controller."""
        return not (self.is_flushing or self.has_failed or self.is_assigned is False)

    def copy(self, current: PartitionLog, max_bytes: int, now: int) -> int:
        """Copies what the future log lacks, up to `max_bytes` or one larger batch, or truncates it;
        returns the number of bytes. LogRefused and WireError for a damaged batch, BadFile,
        DiskFailure."""
        own, end = self.log, self.log.log_end_offset
        own.config, self.leader_epoch = current.config, current.epochs.latest
        found = compare_with(current, end, own.epochs.latest if end > own.log_start_offset else NO_EPOCH)
        if found.kind is FetchPositionKind.DIVERGING:
            self._truncate_on_divergence(found.end)
            return 0
        in_range = current.log_start_offset <= end <= current.log_end_offset
        if found.kind is FetchPositionKind.OUT_OF_RANGE or not in_range:
            # It continues where the current log ends or begins, which has no record at this offset.
            if not self.handle_out_of_range(current.log_start_offset, current.log_end_offset):
                self.log.truncate_fully_and_start_at(current.log_start_offset)
            return 0
        records = current.read(end, max_bytes, current.log_end_offset).records
        if not records:  # compaction left no batch from there on
            own.log_end_offset = current.log_end_offset
        data = FetchResponse.PartitionData(
            records=bytes(records), high_watermark=current.high_watermark, log_start_offset=current.log_start_offset
        )
        self.process(data, now)
        return len(records)

    def is_caught_up(self, current: PartitionLog) -> bool:
        """Returns whether it has everything that the current log has."""
        return self.log.log_end_offset == current.log_end_offset

    def lacks_flush(self, current: PartitionLog) -> bool:
        """Returns whether less of it is flushed than of the current log, so that a loss of power
        would lose more."""
        return self.log.recovery_point < current.recovery_point

    def flushed(self, offset: int) -> None:
        """Everything below `offset` is flushed."""
        self.is_flushing = False
        super().flushed(offset)
        self._on_flushed()

    def flush_now(self) -> None:
        """Flushes it, on this thread. DiskFailure."""
        work = self.log.unflushed()
        if work is not None:
            work.run()
            self.log.flushed(work.offset)

    def __repr__(self) -> str:
        return f"future replica in {self.future.log_dir.path}: {self.log!r}"
