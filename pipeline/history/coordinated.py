"""Reads the records of a coordinator's log: a key names the entity, a value is its state, and a
null value deletes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kafkadouble.messages.coordinator import FAMILIES, decode_key, decode_value
from kafkadouble.messages.message import Message
from kafkadouble.server.log.formats import BadFile
from kafkadouble.wire.errors import UnknownMessage, WireError

from ..logs.options import FAIL, LogOptions
from .chain import HistoryRecord


class CoordinatorEntry(NamedTuple):
    """`value` is None for a tombstone."""

    entry: HistoryRecord
    key: Message
    value: Message | None


def decoded(log: Iterable[HistoryRecord], topic: str, options: LogOptions) -> Iterator[CoordinatorEntry]:
    """Every record except those of unknown types and transaction markers. Raises BadFile as
    `onCorrupt` says."""
    for entry in log:
        if entry.control or entry.key is None:
            continue
        try:
            key = decode_key(entry.key, FAMILIES[topic])
            yield CoordinatorEntry(entry, key, None if entry.value is None else decode_value(entry.value, key)[0])
        except UnknownMessage:
            continue
        except WireError as problem:
            if options.on_corrupt == FAIL:
                raise BadFile(f"the record at offset {entry.offset}: {problem}", file=entry.segment) from None
