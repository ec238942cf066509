"""Makes the widest requests that the limits allow, from the table of fields of any message.

Rules. A request is widened at one array: the arrays around it have one element, the array itself
has as many as are allowed, all others have none. `Names` decides the texts and numbers of the
elements. Requests with many tagged fields in the header or in the body are wide requests, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafkadouble.messages.fields import FieldInfo, fields_of, is_flexible
from kafkadouble.messages.generated.request_header import RequestHeader
from kafkadouble.messages.message import Message, Struct
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.requests.bounds import MOST_ELEMENTS

MOST = MOST_ELEMENTS - 100
"""The elements of the widened array; the rest of the limit is for the arrays around it."""

WIDE = "wide"
"""A topic of many partitions. Topics `n0`, `n1`, ... exist as well, up to some number."""

Path = tuple[FieldInfo, ...]


def paths(cls: type[Struct], version: int, before: Path = ()) -> Iterator[Path]:
    """Every array of a message, with the fields that lead to it."""
    for field in fields_of(cls):
        if not field.present(version) or field.is_tagged(version):
            continue
        here = (*before, field)
        if field.array:
            yield here
        if field.struct is not None:
            yield from paths(field.struct, version, here)


def widened(cls: type[Message], version: int, path: Path, count: int, *, empty: bool = False) -> Message:
    """A message whose array at `path` has `count` elements; texts are `empty`, or all differ."""
    message = cls()
    _fill(message, version, path, count, empty)
    return message


def _fill(struct: Any, version: int, path: Path, count: int, empty: bool, number: int = -1) -> None:
    for field in fields_of(type(struct)):
        if field.present(version) and not (field.is_tagged(version) or field.array or field.struct):
            setattr(struct, field.name, _value(field, number, empty))
    if not path:
        return
    field, rest = path[0], path[1:]
    if not field.array:
        setattr(struct, field.name, _made(field, version, rest, count, empty, -1))
    elif rest:
        setattr(struct, field.name, [_made(field, version, rest, count, empty, -1)])
    else:
        made = (_made(field, version, (), 0, empty, number) for number in range(count))
        setattr(struct, field.name, list(made))


def _made(field: FieldInfo, version: int, rest: Path, count: int, empty: bool, number: int) -> Any:
    if field.struct is None:
        return _value(field, number, empty)
    struct = field.struct()
    _fill(struct, version, rest, count, empty, number)
    return struct


SMALL = {"int8", "int16", "uint16"}
NUMBERS = {"timeout_ms": 1000, "max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1 << 20, "session_epoch": -1}
NUMBERS |= {"session_timeout_ms": 30_000, "partition_max_bytes": 1000, "replica_id": -1, "acks": -1}
NUMBERS |= {"timestamp": -1, "current_leader_epoch": -1, "last_fetched_epoch": -1, "isolation_level": 0}
NUMBERS |= {"num_partitions": 1, "replication_factor": 1, "validate_only": 1}


def _value(field: FieldInfo, number: int, empty: bool) -> Any:
    """The value for one element, or, with a negative number, for a struct around the array."""
    if field.type == "string":
        return ("" if empty else f"n{number}") if number >= 0 else WIDE
    if field.type == "uuid":
        return Uuid(number.to_bytes(16)) if number >= 0 else Uuid.ZERO
    if field.type == "bool":
        return bool(NUMBERS.get(field.name, 0))
    if field.type in ("bytes", "records"):
        return b""
    if field.name in NUMBERS:
        return NUMBERS[field.name]
    if field.type in SMALL:
        return 2
    return max(number, 0)


def frame(body: Message, version: int, header_tags: int = 0) -> bytes:
    """A frame: the size, and a request with so many tagged fields in its header."""
    flexible = is_flexible(type(body), version)
    tags = dict.fromkeys(range(header_tags), b"") or None
    header = RequestHeader(
        request_api_key=body.api_key or 0, request_api_version=version, client_id="wide", unknown_tagged_fields=tags
    )
    data = header.encode(2 if flexible else 1) + body.encode(version)
    return len(data).to_bytes(4) + data


def frames(cls: type[Message], version: int, most: int | None = None) -> Iterator[tuple[str, bytes]]:
    """The widest frames of one API, each with the name of its widened part. `most` is the number of
    elements instead of MOST."""
    most = MOST if most is None else most
    for path in paths(cls, version):
        where = ".".join(field.name for field in path)
        for empty, what in ((False, "names"), (True, "empty")):
            body = widened(cls, version, path, most, empty=empty)
            yield f"{where}: {most} {what}", frame(body, version)
    if is_flexible(cls, version):
        yield f"{most} tags of the header", frame(cls(), version, most)
        tagged: Any = cls()
        tagged.unknown_tagged_fields = dict.fromkeys(range(1000, 1000 + most), b"")
        yield f"{most} tags of the body", frame(tagged, version)
