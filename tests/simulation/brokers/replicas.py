"""The contents of each broker's log of each partition, read as it grows, so that the promises can
be checked after every step."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from kafkadouble.server.log.log import PartitionLog

from ..world import Broken
from .kept import Kept, kept_in

if TYPE_CHECKING:
    from .member import Member


class OpenTransactions:
    """The transactions in a log that have no marker yet, by the records alone."""

    def __init__(self) -> None:
        self._first: dict[int, int] = {}  # by producer id, the oldest first
        self._read = 0

    def first_in(self, records: Sequence[Kept]) -> int | None:
        """The first offset of the oldest one; reads the records that are new."""
        for kept in records[self._read :] if self._read < len(records) else ():
            if kept.marker:
                self._first.pop(kept.producer, None)
            elif kept.transactional:
                self._first.setdefault(kept.producer, kept.offset)
        self._read = len(records)
        return next(iter(self._first.values()), None)


class Replica:
    """One broker's replica of one partition of `topic`.

    `forgot_in`: the broker epoch in which its machine lost power, and perhaps records with it; None
    again when the replica is in sync in a later broker epoch. `has_left`: a reassignment has
    removed the replica, and its log is deleted sooner or later. `lead`: the state of the partition
    when it was last checked as its leader."""

    def __init__(self, member: Member, topic: str, index: int) -> None:
        self.member, self.topic, self.index = member, topic, index
        self.records: list[Kept] = []
        self._transactions = OpenTransactions()
        self.high_watermark = 0  # the last value seen of this log
        self.flushed = 0  # records below it survive a loss of power
        self.forgot_in: int | None = None
        self.has_left = False
        # The partition, its leader epoch, its high watermark.
        self.lead: tuple[object, int, int] | None = None
        self._log: PartitionLog | None = None
        self._node: object = None
        # The records that must be there when the log is opened after a loss of power.
        self._flushed_then: list[Kept] | None = None

    def has_read(self, log: PartitionLog) -> bool:
        """Whether the log has nothing new."""
        return self._log is log and len(self.records) == log.log_end_offset and self.flushed == log.recovery_point

    def lost_power(self, life: int | None) -> None:
        self._flushed_then = self.records[: self.flushed]
        if len(self._flushed_then) < len(self.records):
            self.forgot_in = life
        self.lead = None

    def read(self, log: PartitionLog) -> list[Kept]:
        """Reads new records, and removes those that were truncated."""
        if self._flushed_then is not None:
            self._opened_after_loss(log, self._flushed_then)
            return []
        if self._log is not log and (self.has_left or self._node is self.member.node):
            # The log was deleted, and is created again.
            self.records, self.has_left, self._transactions = [], False, OpenTransactions()
        if self._log is not log:
            self.high_watermark = 0
        self._log, self._node = log, self.member.node
        end = log.log_end_offset
        gone = self.records[end:]
        del self.records[end:]
        if gone:
            self._transactions = OpenTransactions()
        self._extend(log)
        self.flushed = log.recovery_point
        return gone

    def _opened_after_loss(self, log: PartitionLog, flushed: list[Kept]) -> None:
        """Checks that flushed records are still there (KIP-966 promises nothing more)."""
        self.records, self.high_watermark, self._flushed_then = [], 0, None
        self._transactions = OpenTransactions()
        self._log, self._node = log, self.member.node
        self._extend(log)
        if self.records[: len(flushed)] != flushed:
            raise Broken(f"{self!r} lost what it had flushed: of {flushed} there is {self.records}")
        self.flushed = log.recovery_point

    def _extend(self, log: PartitionLog) -> None:
        since = len(self.records)
        for batch in log.batches(since) if log.log_end_offset > since else ():
            for kept in kept_in(batch):
                if kept.offset != len(self.records):
                    raise Broken(f"{self!r}: offset {kept.offset} where {len(self.records)} is due")
                self.records.append(kept)
        if len(self.records) != log.log_end_offset:
            raise Broken(f"{self!r} ends at {log.log_end_offset}, and has {len(self.records)} records")
        self._check_epochs(log, since)

    def _check_epochs(self, log: PartitionLog, since: int) -> None:
        """Epochs only grow, and the log knows where each begins (KIP-101)."""
        for before, kept in pairwise(self.records[max(0, since - 1) :]):
            if kept.epoch < before.epoch:
                raise Broken(f"{self!r}: epoch {kept.epoch} after epoch {before.epoch} at offset {kept.offset}")
        for kept in self.records[since:]:
            if log.epochs.epoch_for(kept.offset) != kept.epoch:
                raise Broken(f"{self!r}: offset {kept.offset} is of epoch {kept.epoch}, and it knows {log.epochs!r}")

    @property
    def first_open(self) -> int | None:
        """The first offset of the oldest open transaction."""
        return self._transactions.first_in(self.records)

    def __repr__(self) -> str:
        return f"the replica of {self.topic}-{self.index} on broker {self.member.id}"
