"""The table `voters` of `level=metadata`: the voters of the quorum over time (KIP-853). Voters of a
static quorum are in no log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from kafkadouble.messages.generated.voters_record import VotersRecord
from kafkadouble.messages.show.payload import value_payload
from kafkadouble.server.log.formats import BadFile
from kafkadouble.wire.errors import WireError

from ..logs.options import FAIL, LogOptions
from .chain import Chain, HistoryRecord
from .spans import StateSpans, mark

_ENDPOINT = pa.struct([pa.field("name", pa.string()), pa.field("host", pa.string()), pa.field("port", pa.int32())])

FIELDS = {
    "voter_id": pa.int32(),
    "directory_id": pa.string(),
    "endpoints": pa.list_(pa.field("element", _ENDPOINT)),
    "min_kraft_version": pa.int32(),
    "max_kraft_version": pa.int32(),
}


def rows(log: Iterable[HistoryRecord], chain: Chain, options: LogOptions) -> Iterator[dict[str, Any]]:
    """The rows of the table. Each record holds all voters: a voter that is not in the next record
    was removed."""
    spans, known = StateSpans(), dict[int, None]()
    for entry in log:
        record = _read(entry, options) if entry.control else None
        if record is not None:
            current = {voter.voter_id: _row(voter) for voter in record.voters}
            for id in {**known, **current}:
                yield from spans.put(id, current.get(id), mark(entry))
            known = dict.fromkeys(current)
    yield from spans.left()


def _read(entry: HistoryRecord, options: LogOptions) -> VotersRecord | None:
    payload = value_payload("metadata", True, entry.key, entry.value)
    if payload is None or payload.message is not VotersRecord:
        return None
    try:
        message = payload.read()
    except WireError as problem:
        if options.on_corrupt == FAIL:
            raise BadFile(f"the record at offset {entry.offset}: {problem}", file=entry.segment) from None
        return None
    return message if isinstance(message, VotersRecord) else None


def _row(voter: VotersRecord.Voter) -> dict[str, Any]:
    return {
        "voter_id": voter.voter_id,
        "directory_id": str(voter.voter_directory_id),
        "endpoints": [
            {"name": endpoint.name, "host": endpoint.host, "port": endpoint.port} for endpoint in voter.endpoints
        ],
        "min_kraft_version": voter.kraft_version_feature.min_supported_version,
        "max_kraft_version": voter.kraft_version_feature.max_supported_version,
    }
