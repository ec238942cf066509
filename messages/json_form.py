"""Messages as the plain dicts that Kafka's own generated JSON converters make and read (KIP-673).

The rules are Kafka's: camelCase names in the order of the specification; bytes as base64, uuids as
Kafka's text; a tagged field at its default is omitted; a field that the version does not have is
omitted, or refused when it is set and not ignorable. Reading requires every untagged field of the
version, also sets fields that the version does not have, and ignores unknown names. One difference:
records are base64 of their bytes, where Kafka writes an empty text.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

from kafkadouble.wire.errors import UsageError
from kafkadouble.wire.wording import KindOfValue, ShownValue

from .fields import INTEGERS, FieldInfo, fields_of
from .message import Message, Struct
from .uuid import Uuid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    M = TypeVar("M", bound=Message)


def to_json(message: Message, version: int) -> dict[str, Any]:
    """The dict of a message. Raises UsageError when the version cannot carry a value."""
    _check_version(type(message), version)
    return _dict(message, version, type(message).__name__)


def from_json(cls: type[M], obj: dict[str, Any], version: int) -> M:
    """The message of a dict. Raises UsageError, which names the missing field or the value of a
    wrong type."""
    _check_version(cls, version)
    made = cls()
    _fill(made, obj, version, cls.__name__)
    return made


def completed(cls: type[Message], obj: Mapping[str, Any], version: int) -> dict[str, Any]:
    """`obj` with defaults for its missing fields, for `from_json`. UsageError for a name that the
    message does not have."""
    _check_version(cls, version)
    return _completed(cls, obj, version, cls.__name__)


def _completed(cls: type[Struct], obj: Any, version: int, path: str) -> dict[str, Any]:
    if not isinstance(obj, Mapping):
        raise UsageError("{path} is {kind}, not an object", path=path, kind=KindOfValue(obj))
    fields = {field.json_name: field for field in fields_of(cls)}
    made = _dict(cls(), version, path)
    for name, value in obj.items():
        if name not in fields:
            raise UsageError(f"{path} has no field {name!r}; it has {', '.join(fields)}")
        made[name] = _completed_value(value, fields[name], version, f"{path}.{name}")
    return made


def _completed_value(value: Any, field: FieldInfo, version: int, path: str) -> Any:
    if field.struct is None or value is None:
        return value
    if not field.array:
        return _completed(field.struct, value, version, path)
    if not isinstance(value, (list, tuple)):
        raise UsageError("{path} is {kind}, not a list", path=path, kind=KindOfValue(value))
    return [_completed(field.struct, each, version, f"{path}[{index}]") for index, each in enumerate(value)]


def _check_version(cls: type[Message], version: int) -> None:
    low, high = cls.versions
    if not low <= version <= high:
        raise UsageError(f"{cls.__name__} has no version {version}: it has {low} to {high}")


# Writing.


def _dict(struct: Struct, version: int, path: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for field in fields_of(type(struct)):
        value = getattr(struct, field.name)
        inner = f"{path}.{field.name}"
        if not field.present(version):
            if not field.ignorable and not field.is_default(value):
                raise UsageError(f"{inner} is set, which version {version} cannot carry")
        elif not field.is_tagged(version) or not field.is_default(value):
            out[field.json_name] = _out(value, field, version, inner)
    return out


def _out(value: Any, field: FieldInfo, version: int, path: str) -> Any:
    if value is None:
        if not field.is_nullable(version):
            raise UsageError(
                "{path} cannot be {none} in version {version}", path=path, none=ShownValue(None), version=version
            )
        return None
    if field.array:
        return [_element_out(element, field, version, f"{path}[{index}]") for index, element in enumerate(value)]
    return _element_out(value, field, version, path)


def _element_out(value: Any, field: FieldInfo, version: int, path: str) -> Any:
    if field.struct is not None:
        return _dict(value, version, path)
    try:
        return _OUT[field.type](value) if field.type in _OUT else int(value)
    except (TypeError, ValueError):
        raise UsageError(f"{path} is a {type(value).__name__}, not {field.type}") from None


def _base64(value: Any) -> str:
    return base64.b64encode(value).decode()


_OUT: dict[str, Callable[[Any], Any]] = {
    "bool": bool,
    "float64": float,
    "string": str,
    "bytes": _base64,
    "records": _base64,
    "uuid": lambda value: str(Uuid(value)),
}


# Reading.


def _fill(struct: Struct, obj: Any, version: int, path: str) -> None:
    if not isinstance(obj, dict):
        raise UsageError("{path} is {kind}, not an object", path=path, kind=KindOfValue(obj))
    for field in fields_of(type(struct)):
        inner = f"{path}.{field.json_name}"
        if field.json_name in obj:
            setattr(struct, field.name, _in(obj[field.json_name], field, version, inner))
        elif field.present(version) and not field.is_tagged(version):
            raise UsageError(f"{inner} is missing, which is mandatory in version {version}")


def _in(value: Any, field: FieldInfo, version: int, path: str) -> Any:
    if value is None and field.nullable[0] <= field.nullable[1]:
        return None
    if not field.array:
        return _element_in(value, field, version, path)
    if not isinstance(value, (list, tuple)):
        raise UsageError("{path} is {kind}, not a list", path=path, kind=KindOfValue(value))
    elements = [_element_in(element, field, version, f"{path}[{index}]") for index, element in enumerate(value)]
    return elements if field.struct is not None else tuple(elements)


def _element_in(value: Any, field: FieldInfo, version: int, path: str) -> Any:
    if field.struct is not None:
        made = field.struct()
        _fill(made, value, version, path)
        return made
    try:
        return _IN[field.type](value) if field.type in _IN else _integer(value, field.type)
    except (TypeError, ValueError):
        words = {"path": path, "type": field.type, "value": ShownValue(value)}
        raise UsageError("{path} = {value} is not {type}", **words) from None


def _integer(value: Any, kind: str) -> int:
    low, high = INTEGERS[kind]
    if type(value) is not int or not low <= value <= high:
        raise ValueError
    return value


def _bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError
    return float(value)


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(_string(value), validate=True)
    except binascii.Error:
        raise ValueError from None


_IN: dict[str, Callable[[Any], Any]] = {
    "bool": _bool,
    "float64": _float,
    "string": _string,
    "bytes": _bytes,
    "records": _bytes,
    "uuid": lambda value: Uuid.parse(_string(value)),
}
