"""One partition that this node follows: what it fetches next, and what it does with an answer (KIP-101, KIP-279, KIP-595).

Rules. What the leader sends is appended byte for byte, with its offsets and epochs. Where histories diverge, the follower cuts its own back to
where both had the same, as the leader's epochs say; only where the leader knows of no epoch, to the high watermark. The follower's log begins
where the leader's does. Nothing is taken that does not go on where the log ends, or that cannot be (`claims`).
"""

from __future__ import annotations

import logging

from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.batch import read_header
from kafkadouble.wire.checksum import Buffer

from ...log.log import PartitionLog
from ...log.offset_and_epoch import UNDEFINED, OffsetAndEpoch
from ...log.replica import checked_batches
from ...requests.waiting import Waiters
from ..partition import epoch_problem
from .claims import check_data, check_range, lie

log = logging.getLogger("kafkadouble.server.replica")

Asked = FetchRequest.FetchPartition
PartitionData = FetchResponse.PartitionData

NO_EPOCH = -1


class Following:
    """A replica of a partition whose leader is the broker `leader_id`, -1 for none, in the epoch `leader_epoch`."""

    __slots__ = ("index", "lag", "leader_epoch", "leader_id", "log", "refused", "topic", "topic_id", "waiters")

    def __init__(self, topic_id: Uuid, log: PartitionLog, leader_id: int, leader_epoch: int) -> None:
        self.topic, self.topic_id, self.index, self.log = log.topic, topic_id, log.index, log
        self.leader_id, self.leader_epoch = leader_id, leader_epoch
        self.waiters = Waiters()  # consumers that read here (KIP-392)
        self.refused: str | None = None  # what was wrong with the last answer
        self.lag: int | None = None  # to the leader's high watermark, when it last said something new

    lags_behind_epoch = False
    """A follower does not lead, and only debugging clients ask it for offsets."""

    def check_epoch(self, current_leader_epoch: int) -> int:
        """What a consumer is told that has another idea of the leader epoch (KIP-320)."""
        return epoch_problem(self.leader_epoch, current_leader_epoch)

    def stir(self) -> None:
        """Wake the consumers that wait here: the offset that they wait for may be gone."""
        self.waiters.wake_all()

    def flushed(self, offset: int) -> None:
        """A flush of everything below `offset` was done."""
        self.log.flushed(offset)

    def asked(self, max_bytes: int) -> Asked:
        """What to ask the leader for."""
        return Asked(
            partition=self.index,
            current_leader_epoch=self.leader_epoch,
            fetch_offset=self.log.log_end_offset,
            last_fetched_epoch=self.log.epochs.latest if self.log.log_end_offset > 0 else NO_EPOCH,
            log_start_offset=self.log.log_start_offset,
            partition_max_bytes=max_bytes,
        )

    def take(self, data: PartitionData, now: int) -> None:
        """An answer without an error. LogRefused, WireError: nothing of it was taken."""
        check_data(data, self.log, self.log.epochs.latest)
        diverging = data.diverging_epoch
        if diverging is not None and diverging.end_offset >= 0:
            self._part(OffsetAndEpoch(diverging.end_offset, diverging.epoch))
            return
        if data.records:
            self._append(data.records, now)
        if data.records or self.lag is None:
            self.lag = max(0, data.high_watermark - self.log.log_end_offset)
        if data.high_watermark > self.log.high_watermark:
            self.log.high_watermark = data.high_watermark
            self.waiters.wake_all()
        if data.log_start_offset > self.log.log_start_offset:
            self._begin_at(data.log_start_offset)

    def _append(self, records: Buffer, now: int) -> None:
        own = self.log
        if own.log_start_offset == own.log_end_offset and (base := _base_around(records, own.log_end_offset)) >= 0:
            checked_batches(records, self.leader_epoch, base)
            own.truncate_fully_and_start_at(base)
        if own.append_as_follower(records, now=now, leader_epoch=self.leader_epoch) is None:
            raise lie(f"{len(records)} bytes without a whole batch of an epoch up to {self.leader_epoch}")

    def _part(self, leaders: OffsetAndEpoch) -> None:
        """Histories parted there; what does not change anything would be told again and again."""
        before = self.log.log_end_offset, self.log.epochs.latest
        high_watermark = self.log.high_watermark
        self.truncate(leaders)
        if self.log.log_end_offset < high_watermark:
            log.warning("%r: cut off below its high watermark %d, as its leader says", self, high_watermark)
        if before == (self.log.log_end_offset, self.log.epochs.latest):
            raise lie(
                f"histories are said to have parted at {leaders.offset} in epoch {leaders.epoch}, where they did not"
            )

    def truncate(self, leaders: OffsetAndEpoch) -> None:
        """The leader says that its largest epoch up to the one that was asked for is this, and where it ends."""
        if leaders.epoch == NO_EPOCH:
            self.log.truncate_to(self.log.high_watermark)
            return
        ours = self.log.end_offset_for_epoch(leaders.epoch)
        if ours == UNDEFINED:
            self.log.truncate_to(leaders.offset)
        else:
            self.log.truncate_to(min(leaders.offset, ours.offset))

    def start_anew(self, leader_start: int, leader_end: int) -> bool:
        """The leader has nothing of what is asked for: it ends before, or begins after where this log ends. False when that is so no more;
        LogRefused for what never is."""
        check_range(leader_start, leader_end)
        end = self.log.log_end_offset
        if leader_start <= end <= leader_end:
            return False
        log.warning("%r: its leader has only offsets %d to %d", self, leader_start, leader_end)
        if end > leader_end >= self.log.log_start_offset:
            self.log.truncate_to(leader_end)
        else:  # they have nothing in common
            self.log.truncate_fully_and_start_at(leader_start)
        return True

    def _begin_at(self, offset: int) -> None:
        if offset <= self.log.log_end_offset:
            self.log.delete_records_before(offset)

    def __repr__(self) -> str:
        return f"follower of {self.leader_id} in epoch {self.leader_epoch}: {self.log!r}"


def _base_around(records: Buffer, offset: int) -> int:
    """Where the first batch begins if this offset lies within it, as where a leader's records were deleted up to there; -1 if it does not."""
    header = read_header(records, partial=True)
    return header.base_offset if 0 <= header.base_offset < offset <= header.last_offset else -1
