"""`.txnindex`: the transactions that were aborted, in the segment that holds their markers (KIP-98).

An entry is 34 bytes: version (int16, 0), producer id, first offset, last offset (the marker's), last stable offset after it (int64 each). Last
offsets ascend. The file is there only when it has an entry, and has no room behind them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct

from kafkadouble.wire.checksum import Buffer

from ..transactions import AbortedTransaction
from .errors import BadFile
from .sparse import check_size

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


def entries(data: Buffer, base_offset: int = 0, file: str = "") -> Iterator[AbortedTransaction]:
    """The entries, up to the first thing that is wrong: BadFile for another version, a marker before the transaction or before the segment,
    last offsets that do not ascend, and a piece of an entry at the end."""
    last = base_offset - 1
    for at in range(0, len(data) - SIZE + 1, SIZE):
        version, *fields = _ENTRY.unpack_from(data, at)
        found = AbortedTransaction(*fields)
        if version != VERSION:
            raise BadFile(f"an entry of version {version}", file=file, offset=at)
        if found.producer_id < 0:
            raise BadFile(f"producer id {found.producer_id}", file=file, offset=at + _PRODUCER_ID)
        if not 0 <= found.first_offset <= found.last_offset:
            problem = f"a transaction from {found.first_offset} to {found.last_offset}"
            raise BadFile(problem, file=file, offset=at + _FIRST)
        if found.last_offset <= last:
            problem = f"last offset {found.last_offset} after {last}"
            raise BadFile(problem, file=file, offset=at + _LAST)
        last = found.last_offset
        yield found
    check_size(data, SIZE, file)


def read(data: Buffer, base_offset: int = 0, file: str = "") -> list[AbortedTransaction]:
    """All entries of a file."""
    return list(entries(data, base_offset, file))
