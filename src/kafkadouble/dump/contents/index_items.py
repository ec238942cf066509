"""Entries of `.index`, `.timeindex` and `.txnindex` files."""

from __future__ import annotations

from collections.abc import Iterator

from kafkadouble.server.log.formats import offset_index, time_index, txn_index
from kafkadouble.server.log.formats.sparse import check_size

from .file import FileBytes
from .item import ENTRY, Item
from .kinds import base_offset_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .options import Options


def offsets(data: FileBytes, options: Options) -> Iterator[Item]:
    for entry, problem in offset_index.rows(data, base_offset_of(data.path) or 0, str(data.path)):
        yield Item(ENTRY, {"offset": entry.offset, "position": entry.position}, problem)
    check_size(data, offset_index.SIZE, str(data.path))


def times(data: FileBytes, options: Options) -> Iterator[Item]:
    for entry, problem in time_index.rows(data, base_offset_of(data.path) or 0, str(data.path)):
        yield Item(ENTRY, {"timestamp": entry.timestamp, "offset": entry.offset}, problem)
    check_size(data, time_index.SIZE, str(data.path))


def transactions(data: FileBytes, options: Options) -> Iterator[Item]:
    for entry, problem in txn_index.rows(data, base_offset_of(data.path) or 0, str(data.path)):
        fields = {
            "version": txn_index.VERSION,
            "producerId": entry.producer_id,
            "firstOffset": entry.first_offset,
            "lastOffset": entry.last_offset,
            "lastStableOffset": entry.last_stable_offset,
        }
        yield Item(ENTRY, fields, problem)
    check_size(data, txn_index.SIZE, str(data.path))
