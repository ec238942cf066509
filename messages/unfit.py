"""Finds why a message cannot be written: the second, slow pass after a generated writer has failed.

It walks the values with the table of fields and names the first one that does not fit its type, or
that the version cannot carry.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkadouble.wire.errors import UsageError
from kafkadouble.wire.primitives import LONGEST_TEXT, buffer
from kafkadouble.wire.tagged import MOST

from .fields import INTEGERS, FieldInfo, fields_of, is_flexible
from .message import Message, Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def unfit(message: Message, version: int, error: Exception) -> UsageError:
    """The error of a message that could not be written at `version`."""
    name = type(message).__name__
    for problem in _struct(message, type(message), version, is_flexible(type(message), version), name):
        return UsageError(f"{problem} (version {version})")
    return UsageError(f"{name} cannot be written in version {version}: {error}")


def _struct(value: Any, cls: type[Struct], version: int, flexible: bool, path: str) -> Iterator[str]:
    known = set()
    for field in fields_of(cls):
        inner = f"{path}.{field.name}"
        try:
            content = getattr(value, field.name)
        except AttributeError:
            yield f"{path} is a {type(value).__name__}, not a {cls.__name__}"
            return
        if field.present(version):
            yield from _field(content, field, version, flexible, inner)
            known |= {field.tag} if field.is_tagged(version) else set()
        elif not field.ignorable and not _is_default(field, content):
            yield f"{inner} = {_short(content)} cannot be carried: the field has versions {_range(field.versions)}"
    yield from _unknown(getattr(value, "unknown_tagged_fields", None), known, flexible, path)


def _unknown(tags: Any, known: set[int | None], flexible: bool, path: str) -> Iterator[str]:
    if not tags:
        return
    path += ".unknown_tagged_fields"
    if not flexible:
        yield f"{path} cannot be carried: this version has no tags"
    if not isinstance(tags, dict):
        yield f"{path} is a {type(tags).__name__}, not a dict"
        return
    for tag, data in tags.items():
        if not isinstance(tag, int) or not 0 <= tag <= MOST or tag in known:
            yield f"{path}: {tag!r} cannot be an unknown tag here"
        yield from _bytes(data, f"{path}[{tag!r}]")


def _is_default(field: FieldInfo, content: Any) -> bool:
    try:
        return field.is_default(content)
    except TypeError:
        return False


def _field(value: Any, field: FieldInfo, version: int, flexible: bool, path: str) -> Iterator[str]:
    if value is None:
        if not field.is_nullable(version):
            yield f"{path} cannot be None"
    elif field.array:
        yield from _array(value, field, version, flexible, path)
    elif field.struct is not None:
        yield from _struct(value, field.struct, version, flexible, path)
    else:
        yield from _scalar(value, field.type, path)


def _array(value: Any, field: FieldInfo, version: int, flexible: bool, path: str) -> Iterator[str]:
    if isinstance(value, str) or not hasattr(value, "__len__") or not hasattr(value, "__iter__"):
        yield f"{path} is a {type(value).__name__}, not a sequence"
        return
    for index, element in enumerate(value):
        inner = f"{path}[{index}]"
        if element is None:
            yield f"{inner} cannot be None"
        elif field.struct is not None:
            yield from _struct(element, field.struct, version, flexible, inner)
        else:
            yield from _scalar(element, field.type, inner)


def _scalar(value: Any, kind: str, path: str) -> Iterator[str]:
    if kind in INTEGERS:
        low, high = INTEGERS[kind]
        if not hasattr(value, "__index__"):
            yield f"{path} is a {type(value).__name__}, not an {kind}"
        elif not low <= value <= high:
            yield f"{path} = {value} does not fit in {kind}"
    else:
        yield from _OTHERS[kind](value, path)


def _bool(value: Any, path: str) -> Iterator[str]:
    if not hasattr(value, "__index__") or not 0 <= value <= 255:
        yield f"{path} = {_short(value)} is not a bool"


def _float(value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, (int, float)):
        yield f"{path} is a {type(value).__name__}, not a float64"


def _string(value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{path} is a {type(value).__name__}, not a string"
        return
    try:
        size = len(value.encode())
    except UnicodeEncodeError as error:
        yield f"{path} cannot be UTF-8: {error.reason}"
        return
    if size > LONGEST_TEXT:
        yield f"{path} has {size} bytes, a string has {LONGEST_TEXT} at most"


def _bytes(value: Any, path: str) -> Iterator[str]:
    try:
        buffer(value)
    except TypeError:
        yield f"{path} is a {type(value).__name__}, not bytes"


def _uuid(value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, (bytes, bytearray)):
        yield f"{path} is a {type(value).__name__}, not a uuid"
    elif len(value) != 16:
        yield f"{path} has {len(value)} bytes, a uuid has 16"


_OTHERS = {"bool": _bool, "float64": _float, "string": _string, "bytes": _bytes, "records": _bytes, "uuid": _uuid}


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _range(versions: tuple[int, int]) -> str:
    low, high = versions
    return f"{low} and up" if high == 32767 else f"{low} to {high}"
