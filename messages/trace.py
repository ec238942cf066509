"""Reads a message slowly, value by value, with the position of each, for annotated hexdumps and for
error messages.

This is the second pass after the generated reader has failed. It works from the table of fields,
without the generated functions, and refuses exactly the bytes that the generated functions refuse.
The rules of the wire are KIP-482 (flexible versions) and KIP-893 (structs that may be null).
"""

from __future__ import annotations

import struct

from kafkadouble.wire import errors
from kafkadouble.wire.primitives import LONGEST_TEXT
from kafkadouble.wire.tagged import MOST, misplaced
from kafkadouble.wire.varint import read_uvarint

from .fields import SIZES, FieldInfo, fields_of, is_flexible
from .message import Message, Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LETTERS = {
    "bool": "?", "int8": "b", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q", "float64": "d", "uuid": "16s",
}  # fmt: skip


class FieldSpan:
    """Bytes `start` to `end` of a message are `value`; `path` names the field, `what` the part of
    it (value, length, tag...)."""

    __slots__ = ("end", "path", "start", "value", "what")

    def __init__(self, start: int, end: int, path: str, what: str, value: object) -> None:
        self.start, self.end, self.path, self.what, self.value = start, end, path, what, value

    def __repr__(self) -> str:
        return f"Span({self.start}..{self.end} {self.path} {self.what} {self.value!r})"


def trace(
    cls: type[Message], body: bytes, version: int, offset: int = 0
) -> tuple[list[FieldSpan], errors.WireError | None]:
    """Every value of a message in the order of its bytes, and the error of the first one that
    cannot be read, or None."""
    tracer = _Tracer(cls, body, version, offset)
    try:
        tracer.message()
    except errors.WireError as error:
        return tracer.spans, error
    return tracer.spans, None


def explain(cls: type[Message], body: bytes, version: int, offset: int = 0) -> errors.WireError:
    """The error of bytes that the generated reader refused."""
    walk = _Walk(cls, body, version, offset)
    try:
        walk.message()
    except errors.WireError as error:
        return error
    return errors.WireError(f"{cls.__name__} version {version} cannot be read", offset=walk.at)


class _Tracer:
    def __init__(self, cls: type[Message], body: bytes, version: int, offset: int) -> None:
        self.cls, self.body, self.version, self.at = cls, body, version, offset
        self.flexible = is_flexible(cls, version)
        self.spans: list[FieldSpan] = []
        self.path = cls.__name__

    def message(self) -> None:
        self.struct(self.cls, self.path)

    # Positions: every raw read goes through `take`.

    def take(self, size: int, path: str) -> bytes:
        start, end = self.at, self.at + size
        if end > len(self.body):
            missing = f"{size} bytes are needed, {max(len(self.body) - start, 0)} remain"
            raise errors.Truncated(f"the bytes end too early: {missing}", offset=start, path=path)
        self.at = end
        return self.body[start:end]

    def note(self, start: int, path: str, what: str, value: object) -> None:
        self.spans.append(FieldSpan(start, self.at, path, what, value))

    def fixed(self, kind: str, path: str, what: str = "value") -> Any:
        start = self.at
        value = struct.unpack(">" + _LETTERS[kind], self.take(SIZES[kind], path))[0]
        self.note(start, path, what, value)
        return value

    def uvarint(self, path: str, what: str) -> int:
        start = self.at
        try:
            value, self.at = read_uvarint(self.body, start)
        except IndexError:
            raise errors.Truncated("the bytes end inside a varint", offset=start, path=path) from None
        except errors.BadVarint as error:
            raise errors.BadVarint(error.problem, offset=start, path=path) from None
        self.note(start, path, what, value)
        return value

    # Structs and their tag sections.

    def struct(self, cls: type[Struct], path: str) -> None:
        fields = [field for field in fields_of(cls) if field.present(self.version)]
        for field in fields:
            if not field.is_tagged(self.version):
                self.field(field, f"{path}.{field.name}")
        if self.flexible:
            self.tags({field.tag: field for field in fields if field.is_tagged(self.version)}, path)

    def tags(self, known: dict[int | None, FieldInfo], path: str) -> None:
        last = -1
        for _ in range(self.uvarint(path, "count of tagged fields")):
            start = self.at
            tag = self.uvarint(path, "tag")
            size = self.uvarint(path, "size of tagged field")
            if not last < tag <= MOST:
                raise errors.BadTag(misplaced(tag, last), offset=start, path=path)
            last = tag
            self.tagged(known.get(tag), tag, size, path)

    def tagged(self, field: FieldInfo | None, tag: int, size: int, path: str) -> None:
        start = self.at
        inner = f"{path}.{field.name}" if field else f"{path}.unknown_tagged_fields[{tag}]"
        if field is None:
            self.note(start, inner, "value", self.take(size, inner))
            return
        if start + size > len(self.body):
            self.take(size, inner)
        self.field(field, inner)
        if self.at != start + size:
            raise errors.BadTag(f"tag {tag} announces {size} bytes and has {self.at - start}", offset=start, path=inner)

    # Values.

    def field(self, field: FieldInfo, path: str) -> None:
        compact = field.is_compact(self.version, self.flexible)
        nullable = field.is_nullable(self.version)
        if field.array:
            self.array(field, compact, nullable, path)
        elif field.struct is not None:
            if not nullable or self.marked(field, path):
                self.struct(field.struct, path)
        else:
            self.scalar(field.type, compact, nullable, path)

    def marked(self, field: FieldInfo, path: str) -> bool:
        """Whether a nullable struct is not null."""
        if field.is_tagged(self.version):
            return self.uvarint(path, "marker") > 0
        return bool(self.fixed("int8", path, "marker") >= 0)

    def scalar(self, kind: str, compact: bool, nullable: bool, path: str) -> None:
        if kind in SIZES:
            self.fixed(kind, path)
            return
        start = self.at
        size = self.length("string" if kind == "string" else "bytes", compact, nullable, path)
        if size < 0:
            return
        if kind == "string" and size > LONGEST_TEXT:
            raise errors.BadLength(f"a string of {size} bytes is longer than {LONGEST_TEXT}", offset=start, path=path)
        start = self.at
        value: object = self.take(size, path)
        if kind == "string":
            value = self.text(self.body[start : self.at], start, path)
        self.note(start, path, "value", value)

    def text(self, value: bytes, start: int, path: str) -> str:
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise errors.BadText(f"not UTF-8: {error.reason}", offset=start + error.start, path=path) from None

    def length(self, kind: str, compact: bool, nullable: bool, path: str) -> int:
        """A length or count; negative for null."""
        start = self.at
        what = "count" if kind == "array" else "length"
        if compact:
            size = self.uvarint(path, what + " + 1") - 1
        else:
            size = self.fixed("int16" if kind == "string" else "int32", path, what)
        if size < 0 and not nullable:
            raise errors.NullNotAllowed("a null, which this version does not allow", offset=start, path=path)
        return size

    def array(self, field: FieldInfo, compact: bool, nullable: bool, path: str) -> None:
        start = self.at
        count = self.length("array", compact, nullable, path)
        remaining = len(self.body) - self.at
        if count > remaining:
            raise errors.BadLength(f"{count} elements are announced, {remaining} bytes remain", offset=start, path=path)
        for index in range(count):
            inner = f"{path}[{index}]"
            if field.struct is not None:
                self.struct(field.struct, inner)
            else:
                self.scalar(field.type, compact, False, inner)


class _Walk(_Tracer):
    """A tracer that keeps no values: a message of many small values would cost a hundred times its
    bytes."""

    def note(self, start: int, path: str, what: str, value: object) -> None:
        pass
