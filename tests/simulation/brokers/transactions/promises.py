"""The promises of transactions. Each is a small function that raises Broken, with the sentence of
the KIP it checks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ...world import Broken
from ..history import History
from ..kept import ABORTED, COMMITTED, Kept

if TYPE_CHECKING:
    from kafkadouble.server.log.log import PartitionLog

    from .ledger import Transaction


def marker_ends_one_transaction(marker: Kept, ended: Collection[Transaction]) -> None:
    """KIP-890: no record of a transaction comes after the marker that ends it, where the next
    marker would decide about it."""
    if len(ended) > 1:
        raise Broken(f"{marker} ends {len(ended)} transactions at once: {[*ended]}")


def outcome_is_one(transaction: Transaction, marker: Kept) -> None:
    """KIP-98: the markers in all partitions say the same."""
    if transaction.outcome not in ("", marker.marker):
        raise Broken(f"{transaction!r} has {marker} in one partition")


def outcome_was_requested(transaction: Transaction, marker: Kept) -> None:
    """KIP-98: a transaction is committed only if its producer requested it, and never after the
    answer or the fence that said it is aborted; a commit that was answered is final."""
    is_allowed = transaction.may_commit if marker.marker == COMMITTED else transaction.answered != COMMITTED
    if not is_allowed:
        raise Broken(f"{transaction!r} gets {marker}")


def committed_is_whole(transaction: Transaction, found: Collection[int]) -> None:
    """KIP-98: all records of a committed transaction are there."""
    missing = [value for value in transaction.values if value not in found]
    if COMMITTED in (transaction.outcome, transaction.answered) and missing:
        raise Broken(f"{transaction!r} is committed, and {missing} are not there")
    if transaction.answered == COMMITTED and transaction.outcome != COMMITTED:
        raise Broken(f"{transaction!r} was answered as committed, and has no marker")


def reader_gets_committed(client: object, kept: Kept, transaction: Transaction | None) -> None:
    """KIP-98: a read_committed consumer returns records of committed transactions only."""
    if transaction is None or transaction.outcome != COMMITTED:
        raise Broken(f"{client!r} returns {kept} of {transaction!r}")


def reader_gets_all(client: object, seen: Sequence[int], committed: Sequence[int]) -> None:
    """KIP-98: a read_committed consumer returns every record of committed transactions, once and in
    order."""
    if seen != committed:
        differ = next((at for at, pair in enumerate(zip(seen, committed, strict=False)) if pair[0] != pair[1]), None)
        raise Broken(f"{client!r} has returned {seen}, and {committed} are committed; first difference: {differ}")


def fenced_is_refused(client: object, request: object, epoch: int, fence: int) -> None:
    """KIP-98, KIP-360: after the answer that gives a later epoch, no request with an older one
    succeeds."""
    if epoch < fence:
        raise Broken(f"{client!r} of epoch {epoch} succeeds with {request}, sent after epoch {fence} was given")


def offset_is_committed(client: object, offset: int, transaction: Transaction | None) -> None:
    """KIP-447: the offsets of a transaction are shown when it is committed."""
    if transaction is None or not transaction.may_commit or transaction.outcome == ABORTED:
        raise Broken(f"{client!r} gets offset {offset} of {transaction!r}")


def offset_is_the_last(group: str, offset: int, transaction: Transaction | None) -> None:
    """KIP-447: a group has the offset of its last committed transaction."""
    expected = -1 if transaction is None else transaction.offset
    if offset != expected:
        raise Broken(f"group {group} has offset {offset}, and the last committed is {expected}, of {transaction!r}")


def nothing_hangs(log: PartitionLog, history: History) -> None:
    """KIP-890: no transaction stays open, so the last stable offset reaches the log end."""
    if log.last_stable_offset != history.end:
        raise Broken(f"{log!r} has the last stable offset {log.last_stable_offset} of {history.end}: one hangs")
