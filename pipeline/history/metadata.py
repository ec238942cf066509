"""`level=metadata`: `__cluster_metadata` and its snapshots (KIP-595, KIP-630, KIP-631): every
record, or the history of topics, partitions, in-sync replicas, brokers, configurations, features
and voters.

Records above the high watermark may still be truncated later; the files do not contain the high
watermark.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import groupby
from typing import Any

from kafkadouble.messages.framed import decode_record
from kafkadouble.server.log.formats import BadFile
from kafkadouble.server.metadata.replay import BrokenLog, MetadataDelta
from kafkadouble.wire.errors import UnknownMessage, WireError

from ..logs.options import FAIL, LogOptions
from . import record_rows, spans, voters
from .chain import Chain, HistoryRecord
from .level import HistoryTable, level
from .spans import StateSpans, mark
from .states import STATES, StateTable

TOPIC = "__cluster_metadata"


def _history(state: StateTable) -> Callable[[Iterable[HistoryRecord], Chain, LogOptions], Iterator[dict[str, Any]]]:
    def rows(log: Iterable[HistoryRecord], chain: Chain, options: LogOptions) -> Iterator[dict[str, Any]]:
        spans = StateSpans()
        for entry, key, row in _changes(state, log, options):
            yield from spans.put(key, row, mark(entry))
        yield from spans.left()

    return rows


def _changes(
    state: StateTable, log: Iterable[HistoryRecord], options: LogOptions
) -> Iterator[tuple[HistoryRecord, Hashable, dict[str, Any] | None]]:
    """The state that may have changed: the last record that touched it, its key and row. The
    records of a batch apply together, and so do those of a metadata transaction, at its end
    (KIP-868)."""
    fold, touched = MetadataDelta(), dict[Hashable, HistoryRecord]()
    for _, batch in groupby(log, key=lambda entry: (entry.segment, entry.base_offset)):
        for entry in batch:
            touched |= dict.fromkeys(_folded(fold, entry, state, options), entry)
        if not fold.in_transaction:
            yield from ((entry, key, state.row(fold.image, key)) for key, entry in touched.items())
            touched = {}


def _folded(fold: MetadataDelta, entry: HistoryRecord, state: StateTable, options: LogOptions) -> list[Hashable]:
    """`_applied`; a record that does not fit the image raises an error, or is skipped."""
    try:
        return [] if entry.control else _applied(fold, entry, state)
    except (BrokenLog, WireError) as problem:
        if options.on_corrupt == FAIL:
            raise BadFile(f"the record at offset {entry.offset}: {problem}", file=entry.segment) from None
        return []


def _applied(fold: MetadataDelta, entry: HistoryRecord, state: StateTable) -> list[Hashable]:
    """The keys that a record touches, after it was folded in. Unknown types of records touch
    none."""
    if entry.value is None:
        raise BrokenLog("it has no value")
    try:
        record = decode_record(entry.value)[0]
    except UnknownMessage:
        return []
    touch = state.touched.get(type(record).__name__)
    keys = list(touch(record, fold.image)) if touch else []
    fold.replay(record)
    return keys


TABLES = {
    "records": record_rows.table("metadata"),
    **{name: HistoryTable({**state.fields, **spans.FIELDS}, _history(state)) for name, state in STATES.items()},
    "voters": HistoryTable({**voters.FIELDS, **spans.FIELDS}, voters.rows),
}

LEVEL = level(TOPIC, TABLES, "records")
