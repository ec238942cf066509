"""A partition that this broker leads: its log, its waiting requests, and its leader epoch.

Rules. The leader sets its epoch in each batch that it appends. A record is committed when every
in-sync replica has it. If this broker has the only replica, the high watermark follows the log end
offset at once. New records wake waiting requests by their size in bytes. A partition whose log
directory is offline answers KAFKA_STORAGE_ERROR to every request (KIP-112).
"""

from __future__ import annotations

from collections.abc import Callable, Container
from contextlib import suppress
from typing import TYPE_CHECKING, ParamSpec

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.checksum import Buffer

from ...log.files.errors import DiskFailure
from ...log.inspection import DecompressionBudget
from ...log.log import AppendRefused, AppendResult, PartitionLog
from ...log.producers import NOT_REQUIRED, VerificationStateEntry
from ...requests.waiting import Waiters

if TYPE_CHECKING:
    from ...logs.flushing import FlushQueue
    from ...metadata.image import PartitionImage
    from .in_sync_replicas import InSyncReplicas

P = ParamSpec("P")

ANY_EPOCH = -1
"""A leader epoch that is not checked. Any other negative one is fenced, as in Kafka."""


class Partition:
    """A partition led by this broker, `leader_id`.

    `in_sync` is None if there is no other replica.
    """

    __slots__ = (
        "_flushing",
        "in_sync",
        "index",
        "leader_epoch",
        "leader_id",
        "log",
        "offline",
        "topic",
        "topic_id",
        "waiters",
    )

    def __init__(
        self,
        topic_id: Uuid,
        leader_id: int,
        leader_epoch: int,
        log: PartitionLog,
        flushing: FlushQueue | None = None,
        in_sync: InSyncReplicas | None = None,
    ) -> None:
        self.topic, self.topic_id, self.index = log.topic, topic_id, log.index
        self.leader_id, self.leader_epoch = leader_id, leader_epoch
        self.log, self._flushing = log, flushing
        self.offline = False
        self.in_sync = in_sync
        self.log.begin_epoch(leader_epoch)
        self.waiters = Waiters()
        if in_sync is None:
            self.log.commit_all()  # also what an earlier run of the broker wrote
        else:
            if flushing is not None and log.flush_is_due:
                flushing.want(self)  # what it appended as a follower must be flushed too
            self.advance()

    def apply_image(self, partition: PartitionImage, now: int) -> None:
        """Applies the metadata of a partition that this broker still leads."""
        self._mark_followers_dirty()
        if partition.leader_epoch > self.leader_epoch or (self.in_sync is None) != (len(partition.replicas) == 1):
            self.in_sync = in_sync_replicas_of(partition, self.leader_id, self.log, now)
        elif self.in_sync is not None:
            self.in_sync.apply_image(partition, now)
        if self.in_sync is None and not self.log.flush_is_due:
            self.log.commit_all()
        self.lead(partition.leader_epoch)
        self.advance()

    def lead(self, leader_epoch: int) -> None:
        """Enters a later leader epoch, and wakes waiting requests to tell them (KIP-320)."""
        if leader_epoch > self.leader_epoch:
            self.leader_epoch = leader_epoch
            with suppress(DiskFailure):  # it is offline, or soon will be
                self.log.begin_epoch(leader_epoch)
            self.wake_waiters()

    def take_offline(self) -> None:
        """The log directory failed: wake waiting requests to tell them."""
        self.offline = True
        self.wake_waiters()

    def wake_waiters(self) -> None:
        """Wakes waiting requests, and makes every follower read the partition again."""
        self.waiters.wake_all()
        self._mark_followers_dirty()

    def _mark_followers_dirty(self) -> None:
        if self.in_sync is not None:
            self.in_sync.followers.mark_dirty(self.in_sync, None)

    @property
    def high_watermark(self) -> int:
        return self.log.high_watermark

    @property
    def lags_behind_epoch(self) -> bool:
        """Returns whether the high watermark is below the start offset of the leader epoch.

        The previous leader may have shown clients later offsets than this one can (KIP-207).
        """
        return self.in_sync is not None and self.log.high_watermark < self.in_sync.epoch_start

    def check_epoch(self, current_leader_epoch: int) -> int:
        """Returns the error for a client with this leader epoch (KIP-320); 0 if there is none.

        -1 is not checked. An offline partition is KAFKA_STORAGE_ERROR for every client.
        """
        if self.offline:
            return error_codes.KAFKA_STORAGE_ERROR
        return epoch_error(self.leader_epoch, current_leader_epoch)

    def append(
        self,
        batch: Buffer,
        now: int,
        *,
        budget: DecompressionBudget | None = None,
        verification: VerificationStateEntry | None = NOT_REQUIRED,
    ) -> AppendResult:
        """Appends a batch of a producer. Raises AppendRefused. `verification` is what the
        coordinator confirmed, if the batch is transactional and that was necessary."""
        return self._appended(self.log.append_as_leader, batch, self.leader_epoch, now, budget, verification)

    def append_own(
        self,
        batch: bytes | bytearray,
        now: int,
        *,
        transaction_version: int = 0,
        verification: VerificationStateEntry | None = NOT_REQUIRED,
    ) -> AppendResult:
        """Appends a batch of a coordinator, which may have no checksum yet. `transaction_version`
        chooses the rules for a transaction marker."""
        return self._appended(
            self.log.append_own,
            batch,
            leader_epoch=self.leader_epoch,
            now=now,
            transaction_version=transaction_version,
            verification=verification,
        )

    def _appended(self, append: Callable[P, AppendResult], *args: P.args, **kwargs: P.kwargs) -> AppendResult:
        if self.offline:
            raise _storage_error()
        try:
            result = append(*args, **kwargs)
        except DiskFailure as failure:
            raise _storage_error() from failure
        if not result.duplicate:
            self._commit(result.size)
        return result

    def has_replica(self, broker: int) -> bool:
        """Returns whether this broker is one of the other replicas."""
        return self.in_sync is not None and broker in self.in_sync.remotes

    def fetched(self, broker: int, offset: int, now: int, broker_epoch: int = -1) -> bool:
        """Records that a follower has every record below `offset`.

        Returns False if the broker is not a replica.
        """
        in_sync = self.in_sync
        if in_sync is None or not in_sync.fetched(broker, offset, self.log.log_end_offset, now, broker_epoch):
            return False
        self.advance()
        return True

    def follower_begins(self, broker: int, offset: int) -> None:
        """Records a follower's log start offset, and wakes requests that wait for deletions."""
        remote = None if self.in_sync is None else self.in_sync.remotes.get(broker)
        if remote is not None and remote.start_offset != offset:
            remote.start_offset = offset
            self.waiters.wake_all()

    def low_watermark(self, alive: Container[int]) -> int:
        """Returns the offset below which no replica on these brokers has records (KIP-107)."""
        start = self.log.log_start_offset
        return start if self.in_sync is None else self.in_sync.low_watermark(start, alive)

    @property
    def lacks_replicas(self) -> bool:
        """Returns whether the ISR is smaller than `min.insync.replicas`."""
        return self.in_sync is not None and len(self.in_sync.isr) < self._min_isr(self.in_sync)

    def _min_isr(self, in_sync: InSyncReplicas) -> int:
        """Returns the required size of the ISR; at most the number of replicas."""
        return min(self.log.config.min_insync_replicas, 1 + len(in_sync.remotes))

    def advance(self) -> None:
        """Advances the high watermark to what every in-sync replica has.

        This broker counts what it has flushed, if it must flush.
        """
        in_sync, log = self.in_sync, self.log
        if in_sync is None:
            return
        end = log.recovery_point if log.flush_is_due else log.log_end_offset
        if log.high_watermark >= end:
            return
        offset = in_sync.high_watermark(end, self._min_isr(in_sync))
        if offset > log.high_watermark:
            log.high_watermark = offset
            self.waiters.wake_all()
            in_sync.followers.mark_dirty(in_sync, 0)

    def _commit(self, size: int) -> None:
        if self.in_sync is not None:
            if self._flushing is not None and self.log.flush_is_due:
                self._flushing.want(self)
            self.in_sync.followers.mark_dirty(self.in_sync, size)
            self.advance()
            return
        if self._flushing is not None and self.log.flush_is_due:
            self._flushing.want(self)  # it is committed after the flush
            return
        self.log.commit_all()
        if self.waiters.tasks:
            self.waiters.wake(size)

    def flushed(self, offset: int) -> None:
        """Everything below `offset` is flushed, except what was truncated and rewritten since."""
        self.log.flushed(offset)
        if self.in_sync is not None:
            self.advance()
        elif self.log.flush_is_due:
            self.log.high_watermark = max(self.log.recovery_point, self.log.high_watermark)
        else:
            self.log.commit_all()
        self.waiters.wake_all()

    def __repr__(self) -> str:
        return f"{'offline' if self.offline else 'led'} in epoch {self.leader_epoch}: {self.log!r}"


def epoch_error(leader_epoch: int, requested: int) -> int:
    """Returns FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH or 0 for a requested leader epoch."""
    if requested in (ANY_EPOCH, leader_epoch):
        return error_codes.NONE
    return error_codes.FENCED_LEADER_EPOCH if requested < leader_epoch else error_codes.UNKNOWN_LEADER_EPOCH


def in_sync_replicas_of(partition: PartitionImage, own: int, log: PartitionLog, now: int) -> InSyncReplicas | None:
    """Returns the other replicas of what the broker `own` leads; None if there are none."""
    if len(partition.replicas) == 1:
        return None
    from .in_sync_replicas import InSyncReplicas

    return InSyncReplicas(own, partition, log.log_end_offset, now)


def _storage_error() -> AppendRefused:
    return AppendRefused(error_codes.KAFKA_STORAGE_ERROR, "its log directory has failed")
