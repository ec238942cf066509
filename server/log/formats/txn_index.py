"""`.txnindex`: the aborted transactions, in the segment that holds their markers (KIP-98).

An entry is 34 bytes: version (int16, 0), producer id, first offset, last offset (the marker's),
last stable offset after it (int64 each). Last offsets ascend. The file exists only when it has an
entry, and has no preallocated room.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct

from ..transactions import AbortedTransaction
from .errors import BadFile
from .sparse import Sliceable, good, unpacked

_ENTRY = Struct(">hqqqq")
SIZE = _ENTRY.size
VERSION = 0
_PRODUCER_ID, _FIRST, _LAST = 2, 10, 18


def pack(transaction: AbortedTransaction) -> bytes:
    """One entry."""
    return _ENTRY.pack(VERSION, *transaction)


def write(transactions: Iterable[AbortedTransaction]) -> bytes:
    """A whole file."""
    return b"".join(map(pack, transactions))


def rows(data: Sliceable, base_offset: int = 0, file: str = "") -> Iterator[tuple[AbortedTransaction, BadFile | None]]:
    """Every whole entry, and what is wrong with it: another version, a marker before the
    transaction or before the segment, a last offset that is not larger than that of the last good
    entry."""
    last = base_offset - 1
    for at, (version, *fields) in unpacked(data, _ENTRY, len(data)):
        transaction = AbortedTransaction(*fields)
        problem, where = _problem(version, transaction, last)
        if not problem:
            last = transaction.last_offset
        yield transaction, BadFile(problem, file=file, offset=at + where) if problem else None


def _problem(version: int, transaction: AbortedTransaction, last: int) -> tuple[str, int]:
    """The problem, and its position in the entry."""
    if version != VERSION:
        return f"an entry of version {version}", 0
    if transaction.producer_id < 0:
        return f"producer id {transaction.producer_id}", _PRODUCER_ID
    if not 0 <= transaction.first_offset <= transaction.last_offset:
        return f"a transaction from {transaction.first_offset} to {transaction.last_offset}", _FIRST
    if transaction.last_offset <= last:
        return f"last offset {transaction.last_offset} after {last}", _LAST
    return "", 0


def entries(data: Sliceable, base_offset: int = 0, file: str = "") -> Iterator[AbortedTransaction]:
    """The entries. BadFile at the first wrong one, and for an incomplete entry at the end."""
    return good(rows(data, base_offset, file), data, SIZE, file)


def read(data: Sliceable, base_offset: int = 0, file: str = "") -> list[AbortedTransaction]:
    """All entries of a file."""
    return list(entries(data, base_offset, file))
