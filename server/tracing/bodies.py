"""Requests and answers as lines of JSON for captures, in the form of Kafka's own JSON converters.

Rules. Records are left out, as Kafka does: an empty text stands in their place. Bodies that may
hold credentials are left out altogether, in requests and in answers; so are the values of
configurations, which may be passwords. The rows of `server/apis/` say which these are.
"""

from __future__ import annotations

import json
from copy import copy
from typing import Any

from kafkadouble.messages.fields import fields_of
from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import UsageError

from ..apis.row import BODIES, CONFIG_VALUES
from ..requests.request import Request

log = ClientLog("kafkadouble.server.tracing")

Json = dict[str, Any]


def bodies_of(request: Request[Any], answer: Any) -> tuple[str | None, str | None]:
    """The body of a request and that of its answer, each None if there is none, or if it may hold
    secrets. An API without a row, such as SaslAuthenticate, may."""
    served = request.peer.apis.get(request.api_key)
    secrets = BODIES if served is None else served.row.secrets
    bodies = plain_bodies(request.version, request.body, answer, secrets)
    return _line(bodies[0]), _line(bodies[1])


def plain_bodies(version: int, body: Any, answer: Any, secrets: str) -> tuple[Json | None, Json | None]:
    """The body of a request and that of its answer as dicts. `secrets` is that of the row of the
    API."""
    if secrets == BODIES:
        return None, None
    try:
        request_json = _without_records(body).to_json(version)
        if secrets == CONFIG_VALUES:
            _blank_values(request_json)
        return request_json, None if answer is None else _without_records(answer).to_json(version)
    except UsageError:  # a message that this version cannot hold; the capture goes on
        log.exception("%r cannot be shown in version %d", type(body).__name__, version)
        return None, None


def _line(found: Json | None) -> str | None:
    return None if found is None else json.dumps(found, separators=(",", ":"))


def _blank_values(found: Any) -> None:
    """Replaces every value of a configuration by null."""
    if isinstance(found, list):
        for each in found:
            _blank_values(each)
    elif isinstance(found, dict):
        for name, value in found.items():
            if name == "configs":
                for config in value or ():
                    config["value"] = None
            else:
                _blank_values(value)


_with_records: dict[Any, tuple[tuple[str, ...], tuple[str, ...]]] = {}


def _places(cls: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields of a struct that are records, and its lists of structs with such fields."""
    found = _with_records.get(cls)
    if found is None:
        fields = fields_of(cls)
        own = tuple(field.name for field in fields if field.type == "records")
        inner = tuple(field.name for field in fields if field.struct and field.array and any(_places(field.struct)))
        found = _with_records[cls] = own, inner
    return found


def _without_records(struct: Any) -> Any:
    """The struct, or, if it has records, a copy without them."""
    own, inner = _places(type(struct))
    if not (own or inner):
        return struct
    made = copy(struct)
    for name in own:
        if getattr(made, name) is not None:
            setattr(made, name, b"")
    for name in inner:
        setattr(made, name, [_without_records(each) for each in getattr(made, name) or ()])
    return made
