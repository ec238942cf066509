"""The body of a call: read with bounds, and parsed as JSON or as a form."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import parse_qsl

from kafkadouble.wire.plain_values import fault_of, integer
from kafkadouble.wire.wording import Caller, KindOfValue

from .problems import ControlProblem

if TYPE_CHECKING:
    from starlette.requests import Request

MOST_BYTES = 16 << 20
"""The largest body, in bytes."""

MOST_AT_ONCE = 64 << 20
"""The bytes of all bodies that are being read."""

MUCH = 64 << 10
"""A larger body is parsed on another thread, in bytes."""

MOST_OF_FORM, MOST_FIELDS = 64 << 10, 100
"""The largest form, in bytes and in fields."""

BODY_S = 30
"""How long a body may take to arrive, in seconds."""


class BodyReader:
    """Reads the bodies of the calls of one application. Those that are read at the same time have
    at most `MOST_AT_ONCE` bytes together."""

    def __init__(self) -> None:
        self.held_bytes = 0

    async def parameters(self, request: Request) -> dict[str, Any]:
        """The object in the body; an empty body is an empty object. Raises ControlProblem."""
        content_type = request.headers.get("content-type")
        if content_type is not None and content_type.partition(";")[0].strip().lower() != "application/json":
            what = f"send Content-Type: application/json, not {content_type}"
            raise ControlProblem(415, "usage", f"the body is JSON: {what}")
        parts: list[bytes] = []
        try:
            async with asyncio.timeout(BODY_S):
                await self._read(request, parts, MOST_BYTES)
            if parts and content_type is None:
                raise ControlProblem(415, "usage", "the body is JSON: send Content-Type: application/json")
            return await _object_in(b"".join(parts))
        except TimeoutError:
            raise ControlProblem(408, "timeout", f"the body did not arrive within {BODY_S} s") from None
        finally:
            self.held_bytes -= sum(map(len, parts))

    async def form(self, request: Request) -> dict[str, str]:
        """The fields of a form. Raises ControlProblem."""
        parts: list[bytes] = []
        try:
            async with asyncio.timeout(BODY_S):
                await self._read(request, parts, MOST_OF_FORM)
            return dict(parse_qsl(b"".join(parts).decode(), max_num_fields=MOST_FIELDS))
        except TimeoutError:
            raise ControlProblem(408, "timeout", f"the body did not arrive within {BODY_S} s") from None
        except ValueError:
            raise ControlProblem(400, "usage", "the body is no form") from None
        finally:
            self.held_bytes -= sum(map(len, parts))

    async def _read(self, request: Request, parts: list[bytes], most: int) -> None:
        size = 0
        async for part in request.stream():
            size += len(part)
            if size > most:
                raise ControlProblem(413, "usage", f"the body is larger than {most} bytes")
            if self.held_bytes + len(part) > MOST_AT_ONCE:
                raise ControlProblem(503, "busy", f"the bodies that arrive now have {MOST_AT_ONCE} bytes: try it again")
            if part:
                self.held_bytes += len(part)
                parts.append(part)


async def _object_in(body: bytes) -> dict[str, Any]:
    if len(body) > MUCH:
        return await asyncio.to_thread(_object, body)
    return _object(body) if body else {}


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body, parse_constant=_no_constant, parse_int=integer, object_pairs_hook=_once)
    except (ValueError, RecursionError) as problem:
        raise ControlProblem(400, "usage", f"the body is no JSON: {problem}") from None
    if fault := fault_of(value):
        raise ControlProblem(400, "usage", fault)
    if not isinstance(value, dict):
        kind = KindOfValue(value).in_words_of(Caller.HTTP)
        raise ControlProblem(400, "usage", f"the body is an object with parameters, not {kind}")
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
