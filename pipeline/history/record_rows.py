"""The table `records` of every level: each record of the log as it is, with its key and value as
JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from kafkadouble.messages.show.as_json import message_json
from kafkadouble.messages.show.payload import ParsedPayload, key_payload, value_payload
from kafkadouble.wire.errors import WireError

from ..logs.options import LogOptions
from .chain import Chain, HistoryRecord
from .level import TIME, HistoryTable, time

_FIELDS = {
    "offset": pa.int64(),
    "leader_epoch": pa.int32(),
    "timestamp": TIME,
    "type": pa.string(),
    "version": pa.int32(),
    "key": pa.string(),
    "value": pa.string(),
    "control": pa.bool_(),
    "transactional": pa.bool_(),
    "problem": pa.string(),
    "segment": pa.string(),
    "partition": pa.int32(),
    "replica": pa.string(),
}


def table(kind: str) -> HistoryTable:
    """`kind` is the kind of the records: one of `messages.show.KINDS`."""

    def rows(log: Iterable[HistoryRecord], chain: Chain, options: LogOptions) -> Iterator[dict[str, Any]]:
        for entry in log:
            yield {
                "offset": entry.offset,
                "leader_epoch": entry.leader_epoch,
                "timestamp": time(entry.timestamp),
                "control": entry.control,
                "transactional": entry.transactional,
                "segment": entry.segment,
                "partition": chain.partition,
                **_decoded(kind, entry),
            }

    return HistoryTable(_FIELDS, rows, whole=False)


def _decoded(kind: str, entry: HistoryRecord) -> dict[str, Any]:
    """The readable part, and the error of the rest. A tombstone has the type of its key, and no
    value."""
    key, value = (
        key_payload(kind, entry.control, entry.key),
        value_payload(kind, entry.control, entry.key, entry.value),
    )
    named = value or key
    found: dict[str, Any] = {"type": named.title if named else None, "version": value.version if value else None}
    for name, payload in (("key", key), ("value", value)):
        try:
            found[name] = _json(payload)
        except WireError as problem:
            found["problem"] = str(problem)
    return found


def _json(payload: ParsedPayload | None) -> str | None:
    message = None if payload is None else payload.read()
    if payload is None or message is None:
        return None
    return json.dumps(message_json(message, payload.version), separators=(",", ":"))
