"""The body of a call: read with bounds, and parsed as JSON."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, NoReturn

from kafkadouble.wire.plain_values import fault_of, integer

from .problems import ControlProblem

if TYPE_CHECKING:
    from starlette.requests import Request

MOST_BYTES = 16 << 20
"""The largest body, in bytes."""

BODY_S = 30
"""How long a body may take to arrive, in seconds."""


async def parameters(request: Request) -> dict[str, Any]:
    """The object in the body; an empty body is an empty object. Raises ControlProblem."""
    content_type = request.headers.get("content-type")
    if content_type is not None and content_type.partition(";")[0].strip().lower() != "application/json":
        raise ControlProblem(415, "usage", f"the body is JSON: send Content-Type: application/json, not {content_type}")
    try:
        async with asyncio.timeout(BODY_S):
            body = await _read(request)
    except TimeoutError:
        raise ControlProblem(408, "timeout", f"the body did not arrive within {BODY_S} s") from None
    if body and content_type is None:
        raise ControlProblem(415, "usage", "the body is JSON: send Content-Type: application/json")
    return _object(body) if body else {}


async def _read(request: Request) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            raise ControlProblem(413, "usage", f"the body is larger than {MOST_BYTES} bytes")
        parts.append(part)
    return b"".join(parts)


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body, parse_constant=_no_constant, parse_int=integer, object_pairs_hook=_once)
    except (ValueError, RecursionError) as problem:
        raise ControlProblem(400, "usage", f"the body is no JSON: {problem}") from None
    if fault := fault_of(value):
        raise ControlProblem(400, "usage", fault)
    if not isinstance(value, dict):
        raise ControlProblem(400, "usage", f"the body is an object with parameters, not {type(value).__name__}")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object with these fields. Raises ValueError for one that is there twice: the first would
    be lost."""
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise ValueError(f"the field {name!r} is there twice")
        made[name] = value
    return made


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
