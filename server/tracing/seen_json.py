"""One request of the history as an object of JSON, with request and answer in the form of Kafka's
own JSON converters. Records and secrets are left out, as in captures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..apis.row import BODIES
from ..apis.served import ROW_OF
from .bodies import plain_bodies
from .seen_line import payloads_of

if TYPE_CHECKING:
    from .seen_request import SeenRequest


def json_of(seen: SeenRequest) -> dict[str, Any]:
    """A dict of plain values. `request` and `answer` are null if they may hold secrets, or if they
    are not kept; `records` counts the records of a Produce or a Fetch, null if not counted."""
    row = ROW_OF.get(seen.api)
    secrets = BODIES if row is None else row.secrets
    request, answer = plain_bodies(seen.version, seen.body, seen.answer, secrets)
    payloads = payloads_of(seen)
    counts = [payload.records for payload in payloads]
    return {
        "number": seen.number,
        "time": seen.time,
        "took": seen.took,
        "broker": seen.broker,
        "peer": seen.peer,
        "client_id": seen.client_id,
        "principal": seen.principal,
        "api": seen.api,
        "version": seen.version,
        "correlation_id": seen.correlation_id,
        "outcome": seen.outcome,
        "rules": list(seen.rules),
        "errors": list(seen.errors),
        "parts": [{name: value for name, value in part._asdict().items() if value is not None} for part in seen.parts],
        "size": seen.size,
        "answer_size": seen.answer_size,
        "records": None if None in counts else sum(count or 0 for count in counts),
        "record_bytes": sum(map(len, payloads)),
        "request": request,
        "answer": answer,
    }
