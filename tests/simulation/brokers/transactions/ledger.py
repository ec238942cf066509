"""What is known of every transaction: what its client sent and was answered, and what the markers
in the committed records say.

The ledger compares them as the records are committed. Where committed records were lost, with
permission, no promise of transactions holds any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..history import History
from ..kept import ABORTED, COMMITTED, Kept
from . import promises

NO_OFFSET = -1


class Transaction:
    """`answered` and `outcome` are "", COMMITTED or ABORTED: by an answer to the client, and by the
    markers. `may_commit`: the client has requested the commit, and no answer excludes it."""

    def __init__(self, transactional_id: str, producer_id: int, epoch: int) -> None:
        self.transactional_id, self.producer_id, self.epoch = transactional_id, producer_id, epoch
        self.values: dict[int, int] = {}  # the partition of each
        self.offset = NO_OFFSET
        self.may_commit = False
        self.answered = self.outcome = ""

    def ended(self, outcome: str) -> None:
        """The client knows the outcome."""
        self.answered, self.may_commit = outcome, outcome == COMMITTED

    def __repr__(self) -> str:
        known = f"requested {self.may_commit}, answered {self.answered or '-'}, markers {self.outcome or '-'}"
        return (
            f"the transaction of {self.transactional_id} {self.producer_id}/{self.epoch} with {[*self.values]}, {known}"
        )


class Ledger:
    """All transactions, in the order in which they began."""

    def __init__(self, is_whole: Callable[[], bool]) -> None:
        self._is_whole = is_whole
        self.transactions: list[Transaction] = []
        self._of_value: dict[int, Transaction] = {}
        self._of_offset: dict[int, Transaction] = {}
        self._fences: dict[str, tuple[int, int]] = {}
        # (partition, producer id) -> the transactions of the records after the last marker
        self._open: dict[tuple[int, int], dict[Transaction, None]] = {}
        self._read: dict[int, int] = {}  # the end of what was read of a partition
        self._offsets = 0

    @property
    def is_whole(self) -> bool:
        return self._is_whole()

    # Steps of the producers.

    def begin(self, transactional_id: str, producer_id: int, epoch: int) -> Transaction:
        begun = Transaction(transactional_id, producer_id, epoch)
        self.transactions.append(begun)
        return begun

    def sends(self, transaction: Transaction, values: Sequence[int], index: int) -> None:
        for value in values:
            transaction.values[value] = index
            self._of_value[value] = transaction

    def next_offset(self, transaction: Transaction) -> int:
        """An offset that no other transaction has."""
        self._offsets += 1
        self._of_offset[self._offsets] = transaction
        return self._offsets

    def fence(self, transactional_id: str) -> tuple[int, int]:
        """The last producer id and epoch that a client was given."""
        return self._fences.get(transactional_id, (-1, -1))

    def given(self, transactional_id: str, producer_id: int, epoch: int) -> None:
        """A client has this epoch now: what its predecessors had open is aborted."""
        if (producer_id, epoch) <= self.fence(transactional_id):
            return
        self._fences[transactional_id] = producer_id, epoch
        for transaction in self.transactions:
            is_older = (transaction.producer_id, transaction.epoch) < (producer_id, epoch)
            if transaction.transactional_id == transactional_id and is_older and not transaction.answered:
                transaction.ended(transaction.outcome or ABORTED)

    def succeeded(self, client: Any, request: object, fence: tuple[int, int]) -> None:
        """A request was answered without an error; `fence` is that of the time when it was sent."""
        if client.producer_id == fence[0] and self.is_whole:
            promises.fenced_is_refused(client, request, client.epoch, fence[1])

    # Committed records.

    def read(self, index: int, history: History) -> None:
        """Reads what was committed since."""
        if not self.is_whole:
            return
        since = self._read.get(index, 0)
        self._read[index] = history.end
        for kept in history.records[since:]:
            if kept.marker:
                ended = self._open.pop((index, kept.producer), {})
                promises.marker_ends_one_transaction(kept, ended)
                for transaction in ended:
                    promises.outcome_is_one(transaction, kept)
                    promises.outcome_was_requested(transaction, kept)
                    transaction.outcome = kept.marker
            elif kept.transactional:
                self._open.setdefault((index, kept.producer), {})[self._of_value[kept.value]] = None

    # Steps of the readers.

    def shown(self, client: object, kept: Kept) -> None:
        """A read_committed consumer has returned this record."""
        if kept.transactional and self.is_whole:
            promises.reader_gets_committed(client, kept, self._of_value.get(kept.value))

    def shown_offset(self, client: object, offset: int) -> None:
        if offset != NO_OFFSET and self.is_whole:
            promises.offset_is_committed(client, offset, self._of_offset.get(offset))

    def committed_values(self, history: History) -> list[int]:
        """What a read_committed consumer returns of these records."""
        return [kept.value for kept in history.records if not kept.marker and self._is_committed(kept)]

    def _is_committed(self, kept: Kept) -> bool:
        return not kept.transactional or self._of_value[kept.value].outcome == COMMITTED

    def last_committed_offset(self, transactional_id: str) -> Transaction | None:
        """The last committed transaction with an offset."""
        found = [
            each
            for each in self.transactions
            if each.transactional_id == transactional_id and each.outcome == COMMITTED and each.offset != NO_OFFSET
        ]
        return found[-1] if found else None

    def check_end(self, histories: Sequence[History]) -> None:
        """All faults are over, and every transaction has ended."""
        values = {kept.value for history in histories for kept in history.records}
        for transaction in self.transactions:
            promises.committed_is_whole(transaction, values)
