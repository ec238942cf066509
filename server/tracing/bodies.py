"""Requests and answers as lines of JSON, for who captures them: in the form that Kafka's own JSON converters give them.

Rules. Records are left out, as Kafka leaves them out: an empty text stands where they were. What a client proves itself by is not told at all,
neither in a request nor in an answer; nor is a value that somebody configures, as it may be a password.
"""

from __future__ import annotations

import json
import logging
from copy import copy
from typing import Any

from kafkadouble.messages.fields import fields_of
from kafkadouble.wire.errors import UsageError

from ..apis.row import BODIES, CONFIG_VALUES
from ..requests.request import Request

log = logging.getLogger("kafkadouble.server.tracing")


def bodies_of(request: Request[Any], answer: Any) -> tuple[str | None, str | None]:
    """The body of a request and that of its answer, each None when there is none, or it is not told."""
    secrets = request.peer.apis[request.api_key].row.secrets
    if secrets == BODIES:
        return None, None
    try:
        asked = _without_records(request.body).to_json(request.version)
        if secrets == CONFIG_VALUES:
            _blank_values(asked)
        told = None if answer is None else _line(_without_records(answer).to_json(request.version))
    except UsageError:  # what is no message of this version is nothing to fail over here
        log.exception("%r cannot be told", request)
        return None, None
    return _line(asked), told


def _line(found: dict[str, Any]) -> str:
    return json.dumps(found, separators=(",", ":"))


def _blank_values(found: Any) -> None:
    """Null wherever a configuration has a value."""
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
    """The fields of a struct that are records, and its lists of structs that have such."""
    found = _with_records.get(cls)
    if found is None:
        fields = fields_of(cls)
        own = tuple(field.name for field in fields if field.type == "records")
        inner = tuple(field.name for field in fields if field.struct and field.array and any(_places(field.struct)))
        found = _with_records[cls] = own, inner
    return found


def _without_records(struct: Any) -> Any:
    """A struct, or where it has records a copy without them."""
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
