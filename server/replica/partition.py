"""One partition that this node leads: its log, who waits for it, and what its leadership adds to the log.

Rules. The leader stamps its epoch on what it appends. What is appended is committed when every member of the in-sync set has it; where this
node has the only replica, the high watermark follows the end of the log at once. Who waits for data is woken by as many bytes as came.
A partition whose log directory has failed is offline: it answers KAFKA_STORAGE_ERROR, whatever it is asked (KIP-112).
"""

from __future__ import annotations

from collections.abc import Container
from contextlib import suppress
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.checksum import Buffer

from ..log.files.errors import DiskFailure
from ..log.inspection import DecompressionBudget
from ..log.log import AppendRefused, AppendResult, PartitionLog
from ..requests.waiting import Waiters

if TYPE_CHECKING:
    from ..logs.flushing import FlushQueue
    from ..metadata.image import PartitionImage
    from .replication.in_sync_replicas import InSyncReplicas

ANY_EPOCH = -1
"""A client's epoch that asks for no check; any other below 0 is an old one, as in Kafka."""


class Partition:
    """A partition led here, that is by the broker `leader_id`."""

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
        self.in_sync = in_sync  # who else has it, if anybody has
        self.log.begin_epoch(leader_epoch)
        self.waiters = Waiters()
        if in_sync is None:
            self.log.commit_all()  # what an earlier life left
        else:
            if flushing is not None and log.flush_is_due:
                flushing.want(self)  # what it has appended as a follower counts when it is on the disk, too
            self.advance()

    def follow(self, partition: PartitionImage, now: int) -> None:
        """Go on leading as the metadata say it."""
        self._stir_followers()
        if partition.leader_epoch > self.leader_epoch or (self.in_sync is None) != (len(partition.replicas) == 1):
            self.in_sync = in_sync_of(partition, self.leader_id, self.log, now)
        elif self.in_sync is not None:
            self.in_sync.follow(partition, now)
        if self.in_sync is None and not self.log.flush_is_due:
            self.log.commit_all()
        self.lead(partition.leader_epoch)
        self.advance()

    def lead(self, leader_epoch: int) -> None:
        """Go on leading, perhaps in a later epoch; who waits must learn of it (KIP-320)."""
        if leader_epoch > self.leader_epoch:
            self.leader_epoch = leader_epoch
            with suppress(DiskFailure):  # it is offline, or will be
                self.log.begin_epoch(leader_epoch)
            self.wake_waiters()

    def take_offline(self) -> None:
        """Its log directory has failed; who waits must learn of it."""
        self.offline = True
        self.wake_waiters()

    def wake_waiters(self) -> None:
        """Something happened that everybody must know of who waits here, or fetches."""
        self.waiters.wake_all()
        self._stir_followers()

    def _stir_followers(self) -> None:
        if self.in_sync is not None:
            self.in_sync.followers.mark_dirty(self.in_sync, None)

    @property
    def high_watermark(self) -> int:
        return self.log.high_watermark

    @property
    def lags_behind_epoch(self) -> bool:
        """Whether the high watermark has not reached the offset at which the leader's epoch begins.
        The leader before it may have told clients of later offsets than this one can (KIP-207)."""
        return self.in_sync is not None and self.log.high_watermark < self.in_sync.epoch_start

    def check_epoch(self, current_leader_epoch: int) -> int:
        """Whether a client's idea of the leader epoch is behind, ahead, or right (0); -1 asks for no check (KIP-320). An offline partition
        is KAFKA_STORAGE_ERROR to everybody."""
        if self.offline:
            return error_codes.KAFKA_STORAGE_ERROR
        return epoch_problem(self.leader_epoch, current_leader_epoch)

    def append(self, batch: Buffer, now: int, *, budget: DecompressionBudget | None = None) -> AppendResult:
        """Append what a client produced. Raises AppendRefused."""
        if self.offline:
            raise _storage_error()
        try:
            result = self.log.append_as_leader(batch, self.leader_epoch, now, budget)
        except DiskFailure as failure:
            raise _storage_error() from failure
        if not result.duplicate:
            self._commit(result.size)
        return result

    def append_own(self, batch: bytes | bytearray, now: int) -> AppendResult:
        """Append what a coordinator of this node wrote; it is trusted, and may be unsealed."""
        if self.offline:
            raise _storage_error()
        try:
            result = self.log.append_own(batch, leader_epoch=self.leader_epoch, now=now)
        except DiskFailure as failure:
            raise _storage_error() from failure
        if not result.duplicate:
            self._commit(result.size)
        return result

    def has_replica(self, broker: int) -> bool:
        """Whether this broker is to follow it."""
        return self.in_sync is not None and broker in self.in_sync.remotes

    def fetched(self, broker: int, offset: int, now: int, broker_epoch: int = -1) -> bool:
        """A follower has everything below `offset`, in this life of its broker's; False when it is none of this partition's."""
        in_sync = self.in_sync
        if in_sync is None or not in_sync.fetched(broker, offset, self.log.log_end_offset, now, broker_epoch):
            return False
        self.advance()
        return True

    def follower_begins(self, broker: int, offset: int) -> None:
        """The log of a follower has this start; who waits for records to be gone must learn of it."""
        remote = None if self.in_sync is None else self.in_sync.remotes.get(broker)
        if remote is not None and remote.start_offset != offset:
            remote.start_offset = offset
            self.waiters.wake_all()

    def low_watermark(self, alive: Container[int]) -> int:
        """Below it no replica of these brokers has records any more (KIP-107)."""
        start = self.log.log_start_offset
        return start if self.in_sync is None else self.in_sync.low_watermark(start, alive)

    @property
    def lacks_replicas(self) -> bool:
        """Whether fewer are in sync than `min.insync.replicas` asks for."""
        return self.in_sync is not None and len(self.in_sync.isr) < self._min_isr(self.in_sync)

    def _min_isr(self, in_sync: InSyncReplicas) -> int:
        """How many have to be in sync: as many as there are replicas at most."""
        return min(self.log.config.min_insync_replicas, 1 + len(in_sync.remotes))

    def advance(self) -> None:
        """Move the high watermark to where everybody in sync has come, and this node has flushed if it must."""
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
            self._flushing.want(self)  # it counts when it is on the disk
            return
        self.log.commit_all()
        if self.waiters.tasks:
            self.waiters.wake(size)

    def flushed(self, offset: int) -> None:
        """A flush of everything below `offset` was done; of what was cut off and written anew meanwhile it says nothing."""
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


def epoch_problem(leader_epoch: int, asked: int) -> int:
    """Whether somebody's idea of the leader epoch is behind or ahead of what it is; 0 when it is right, or there is none."""
    if asked in (ANY_EPOCH, leader_epoch):
        return error_codes.NONE
    return error_codes.FENCED_LEADER_EPOCH if asked < leader_epoch else error_codes.UNKNOWN_LEADER_EPOCH


def in_sync_of(partition: PartitionImage, own: int, log: PartitionLog, now: int) -> InSyncReplicas | None:
    """Who else is to have what the broker `own` leads; None where nobody is."""
    if len(partition.replicas) == 1:
        return None
    from .replication.in_sync_replicas import InSyncReplicas

    return InSyncReplicas(own, partition, log.log_end_offset, now)


def _storage_error() -> AppendRefused:
    return AppendRefused(error_codes.KAFKA_STORAGE_ERROR, "its log directory has failed")
