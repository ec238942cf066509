"""One partition that this node leads: its log, who waits for it, and what its leadership adds to the log.

Rules. The leader stamps its epoch on what it appends. What is appended is committed when every member of the in-sync set has it; this node is
the only one yet, so the high watermark follows the end of the log at once, and everybody who waits for data is woken by as many bytes as came.
A partition whose log directory has failed is offline: it answers KAFKA_STORAGE_ERROR, whatever it is asked (KIP-112).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.checksum import Buffer

from .log.files.errors import DiskFailure
from .log.inspection import Room
from .log.log import AppendRefused, AppendResult, PartitionLog
from .waiting import Waiters

if TYPE_CHECKING:
    from .flushing import Flushing

ANY_EPOCH = -1
"""A client's epoch that asks for no check; any other below 0 is an old one, as in Kafka."""


class Partition:
    """A partition led here, that is by the broker `leader_id`."""

    __slots__ = ("_flushing", "index", "leader_epoch", "leader_id", "log", "offline", "topic", "topic_id", "waiters")

    def __init__(
        self, topic_id: Uuid, leader_id: int, leader_epoch: int, log: PartitionLog, flushing: Flushing | None = None
    ) -> None:
        self.topic, self.topic_id, self.index = log.topic, topic_id, log.index
        self.leader_id, self.leader_epoch = leader_id, leader_epoch
        self.log, self._flushing = log, flushing
        self.offline = False
        self.log.begin_epoch(leader_epoch)
        self.log.commit_all()  # what an earlier life left
        self.waiters = Waiters()

    def lead(self, leader_epoch: int) -> None:
        """Go on leading, perhaps in a later epoch; who waits must learn of it (KIP-320)."""
        if leader_epoch > self.leader_epoch:
            self.leader_epoch = leader_epoch
            with suppress(DiskFailure):  # it is offline, or will be
                self.log.begin_epoch(leader_epoch)
            self.waiters.wake_all()

    def take_offline(self) -> None:
        """Its log directory has failed; who waits must learn of it."""
        self.offline = True
        self.waiters.wake_all()

    @property
    def high_watermark(self) -> int:
        return self.log.high_watermark

    def check_epoch(self, current_leader_epoch: int) -> int:
        """Whether a client's idea of the leader epoch is behind, ahead, or right (0); -1 asks for no check (KIP-320). An offline partition
        is KAFKA_STORAGE_ERROR to everybody."""
        if self.offline:
            return error_codes.KAFKA_STORAGE_ERROR
        if current_leader_epoch == ANY_EPOCH or current_leader_epoch == self.leader_epoch:
            return error_codes.NONE
        if current_leader_epoch < self.leader_epoch:
            return error_codes.FENCED_LEADER_EPOCH
        return error_codes.UNKNOWN_LEADER_EPOCH

    def append(self, batch: Buffer, now: int, *, produce_version: int, room: Room | None = None) -> AppendResult:
        """Append what a client produced. Raises AppendRefused."""
        if self.offline:
            raise _storage_error()
        try:
            result = self.log.append_as_leader(batch, self.leader_epoch, now, produce_version, room)
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

    def _commit(self, size: int) -> None:
        if self._flushing is not None and self.log.flush_is_due:
            self._flushing.want(self)  # it counts when it is on the disk
            return
        self.log.commit_all()
        if self.waiters.tasks:
            self.waiters.wake(size)

    def flushed(self, offset: int) -> None:
        """A flush of everything below `offset` was done; of what was cut off and written anew meanwhile it says nothing."""
        self.log.flushed(offset)
        if self.log.flush_is_due:
            self.log.high_watermark = max(self.log.recovery_point, self.log.high_watermark)
        else:
            self.log.commit_all()
        self.waiters.wake_all()

    def __repr__(self) -> str:
        return f"{'offline' if self.offline else 'led'} in epoch {self.leader_epoch}: {self.log!r}"


def _storage_error() -> AppendRefused:
    return AppendRefused(error_codes.KAFKA_STORAGE_ERROR, "its log directory has failed")
