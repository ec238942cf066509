"""One partition that this broker follows: what it fetches, and how it applies a response.

Rules. Batches of the leader are appended byte for byte, with their offsets and epochs. If the logs
diverge, the follower truncates its log to the last offset that both have, by the leader's epochs
(KIP-101, KIP-279, KIP-595); only if the leader knows no epoch, to the high watermark. The
follower's log start offset follows the leader's. Data that does not continue at the log end offset,
or that cannot be valid (`fetch_validation`), is refused.
"""

from __future__ import annotations

from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.batch import read_header
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.client_log import ClientLog

from ...log.log import PartitionLog
from ...log.offset_and_epoch import UNDEFINED, OffsetAndEpoch
from ...log.replica import checked_batches
from ...requests.waiting import Waiters
from .fetch_validation import invalid, validate_data, validate_range
from .partition import epoch_error

log = ClientLog("kafkadouble.server.replica")

FetchPartition = FetchRequest.FetchPartition
PartitionData = FetchResponse.PartitionData

NO_EPOCH = -1


class FollowerPartition:
    """A replica of a partition that the broker `leader_id` leads in `leader_epoch`; -1 for none.

    Consumers that read here wait at `waiters` (KIP-392). `last_problem` says why the last response
    was refused. `lag` is the distance to the leader's high watermark when it last sent records.
    """

    __slots__ = (
        "index",
        "lag",
        "last_problem",
        "leader_epoch",
        "leader_id",
        "log",
        "topic",
        "topic_id",
        "waiters",
    )

    def __init__(self, topic_id: Uuid, log: PartitionLog, leader_id: int, leader_epoch: int) -> None:
        self.topic, self.topic_id, self.index, self.log = log.topic, topic_id, log.index, log
        self.leader_id, self.leader_epoch = leader_id, leader_epoch
        self.waiters = Waiters()
        self.last_problem: str | None = None
        self.lag: int | None = None

    lags_behind_epoch = False
    """A follower has no leader epoch of its own; only debugging clients ask it for offsets."""

    def check_epoch(self, current_leader_epoch: int) -> int:
        """Returns the error for a consumer with another leader epoch (KIP-320)."""
        return epoch_error(self.leader_epoch, current_leader_epoch)

    def wake_waiters(self) -> None:
        """Wakes the consumers that wait here: their offset may be deleted."""
        self.waiters.wake_all()

    def flushed(self, offset: int) -> None:
        """Everything below `offset` is flushed."""
        self.log.flushed(offset)

    def fetch_partition(self, max_bytes: int) -> FetchPartition:
        """Returns the partition's entry in the next Fetch request."""
        return FetchPartition(
            partition=self.index,
            current_leader_epoch=self.leader_epoch,
            fetch_offset=self.log.log_end_offset,
            last_fetched_epoch=self.log.epochs.latest if self.log.log_end_offset > 0 else NO_EPOCH,
            log_start_offset=self.log.log_start_offset,
            partition_max_bytes=max_bytes,
        )

    def process(self, data: PartitionData, now: int) -> None:
        """Applies a response without an error. On LogRefused or WireError nothing was applied."""
        validate_data(data, self.log, self.log.epochs.latest)
        diverging = data.diverging_epoch
        if diverging is not None and diverging.end_offset >= 0:
            self._truncate_on_divergence(OffsetAndEpoch(diverging.end_offset, diverging.epoch))
            return
        if data.records:
            self._append(data.records, now)
        if data.records or self.lag is None:
            self.lag = max(0, data.high_watermark - self.log.log_end_offset)
        if data.high_watermark > self.log.high_watermark:
            self.log.high_watermark = data.high_watermark
            self.waiters.wake_all()
        if data.log_start_offset > self.log.log_start_offset:
            self._advance_log_start(data.log_start_offset)

    def _append(self, records: Buffer, now: int) -> None:
        own = self.log
        if own.log_start_offset == own.log_end_offset and (base := _base_around(records, own.log_end_offset)) >= 0:
            checked_batches(records, self.leader_epoch, base)
            own.truncate_fully_and_start_at(base)
        if own.append_as_follower(records, now=now, leader_epoch=self.leader_epoch) is None:
            raise invalid(f"{len(records)} bytes without a whole batch of an epoch up to {self.leader_epoch}")

    def _truncate_on_divergence(self, leaders: OffsetAndEpoch) -> None:
        """Truncate. If that changes nothing, refuse the divergence: it would be sent for ever."""
        before = self.log.log_end_offset, self.log.epochs.latest
        high_watermark = self.log.high_watermark
        self.truncate(leaders)
        if self.log.log_end_offset < high_watermark:
            log.warning("%r: truncated below its high watermark %d, as its leader says", self, high_watermark)
        if before == (self.log.log_end_offset, self.log.epochs.latest):
            raise invalid(f"the logs are said to diverge at {leaders.offset} in epoch {leaders.epoch}; they do not")

    def truncate(self, leaders: OffsetAndEpoch) -> None:
        """Truncates to the leader's end offset of its largest epoch up to the requested one."""
        if leaders.epoch == NO_EPOCH:
            self.log.truncate_to(self.log.high_watermark)
            return
        ours = self.log.end_offset_for_epoch(leaders.epoch)
        if ours == UNDEFINED:
            self.log.truncate_to(leaders.offset)
        else:
            self.log.truncate_to(min(leaders.offset, ours.offset))

    def handle_out_of_range(self, leader_start: int, leader_end: int) -> bool:
        """Truncates or restarts the log, because the leader does not have the fetch offset.

        Returns False if the leader has it by now. Raises LogRefused for an impossible range.
        """
        validate_range(leader_start, leader_end)
        end = self.log.log_end_offset
        if leader_start <= end <= leader_end:
            return False
        log.warning("%r: its leader has only offsets %d to %d", self, leader_start, leader_end)
        if end > leader_end >= self.log.log_start_offset:
            self.log.truncate_to(leader_end)
        else:  # the logs have no offset in common
            self.log.truncate_fully_and_start_at(leader_start)
        return True

    def _advance_log_start(self, offset: int) -> None:
        if offset <= self.log.log_end_offset:
            self.log.delete_records_before(offset)

    def __repr__(self) -> str:
        return f"follower of {self.leader_id} in epoch {self.leader_epoch}: {self.log!r}"


def _base_around(records: Buffer, offset: int) -> int:
    """Returns the base offset of the first batch if `offset` is inside the batch, else -1.

    That happens if the leader's records were deleted up to this offset.
    """
    header = read_header(records, partial=True)
    return header.base_offset if 0 <= header.base_offset < offset <= header.last_offset else -1
