"""A second, independent reading of the message specifications: raw JSON to `construct` grammars.

It shares no code with `codegen` or with the product: it parses the JSON itself, and reads and
writes plain dicts with Kafka's own names. It is slow and declarative; use it to check a codec.
`grammar(spec, version)` parses bytes to a dict and builds bytes from one.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any

from construct import (
    Byte,
    Bytes,
    Construct,
    Flag,
    Float64b,
    GreedyBytes,
    Int8sb,
    Int16sb,
    Int16ub,
    Int32sb,
    Int32ub,
    Int64sb,
    Prefixed,
    StreamError,
    VarInt,
)

UNKNOWN = "unknown tagged fields"
"""The key of the tagged fields that the version does not define."""

PRIMITIVES = {
    "bool": Flag,
    "int8": Int8sb,
    "int16": Int16sb,
    "uint16": Int16ub,
    "int32": Int32sb,
    "uint32": Int32ub,
    "int64": Int64sb,
    "float64": Float64b,
    "uuid": Bytes(16),
}


class Blob(Construct):  # type: ignore[misc]  # construct has no types
    """A length and that many bytes. A compact length is biased by one and 0 means null; otherwise
    -1 means null."""

    def __init__(self, prefix: Construct, bias: int, nullable: bool, text: bool) -> None:
        super().__init__()
        self.prefix, self.bias, self.nullable, self.text = prefix, bias, nullable, text

    def _parse(self, stream: Any, context: Any, path: Any) -> Any:
        size = self.prefix._parsereport(stream, context, path) - self.bias
        if size < 0:
            return _null(self.nullable)
        data = Bytes(size)._parsereport(stream, context, path)
        return data.decode() if self.text else data

    def _build(self, value: Any, stream: Any, context: Any, path: Any) -> Any:
        if value is None:
            self.prefix._build(self.bias - 1, stream, context, path)
            return value
        data = value.encode() if self.text else bytes(value)
        self.prefix._build(len(data) + self.bias, stream, context, path)
        stream.write(data)
        return value


class Sequence(Construct):  # type: ignore[misc]
    """A count, biased like a length, and the elements."""

    def __init__(self, prefix: Construct, bias: int, nullable: bool, element: Construct) -> None:
        super().__init__()
        self.prefix, self.bias, self.nullable, self.element = prefix, bias, nullable, element

    def _parse(self, stream: Any, context: Any, path: Any) -> Any:
        count = self.prefix._parsereport(stream, context, path) - self.bias
        if count < 0:
            return _null(self.nullable)
        return [self.element._parsereport(stream, context, path) for _ in range(count)]

    def _build(self, value: Any, stream: Any, context: Any, path: Any) -> Any:
        self.prefix._build(self.bias - 1 if value is None else len(value) + self.bias, stream, context, path)
        for element in value or ():
            self.element._build(element, stream, context, path)
        return value


class Perhaps(Construct):  # type: ignore[misc]
    """A struct that may be null, after a mark: a byte that is -1 or 1, or, for a tagged field, a
    varint that is 0 or 1."""

    def __init__(self, inner: Construct, tagged: bool) -> None:
        super().__init__()
        self.inner, self.tagged = inner, tagged

    def _parse(self, stream: Any, context: Any, path: Any) -> Any:
        mark = (VarInt if self.tagged else Int8sb)._parsereport(stream, context, path)
        there = mark > 0 if self.tagged else mark >= 0
        return self.inner._parsereport(stream, context, path) if there else None

    def _build(self, value: Any, stream: Any, context: Any, path: Any) -> Any:
        absent = 0 if self.tagged else 255
        (VarInt if self.tagged else Byte)._build(absent if value is None else 1, stream, context, path)
        if value is not None:
            self.inner._build(value, stream, context, path)
        return value


class Record(Construct):  # type: ignore[misc]
    """A struct as a dict: untagged fields in order, then, in a flexible version, the tag
    section."""

    def __init__(
        self, plain: list[tuple[str, Construct]], tagged: dict[int, tuple[str, Construct, Any]], flexible: bool
    ) -> None:
        super().__init__()
        self.plain, self.tagged, self.flexible = plain, tagged, flexible

    def _parse(self, stream: Any, context: Any, path: Any) -> Any:
        found = {name: inner._parsereport(stream, context, path) for name, inner in self.plain}
        found |= {name: default for name, _, default in self.tagged.values()}
        unknown = {}
        for _ in range(VarInt._parse(stream, context, path) if self.flexible else 0):
            tag = VarInt._parse(stream, context, path)
            data = Prefixed(VarInt, GreedyBytes)._parsereport(stream, context, path)
            if tag in self.tagged:
                name, inner, _default = self.tagged[tag]
                found[name] = inner.parse(data)
            else:
                unknown[tag] = data
        return found | ({UNKNOWN: unknown} if unknown else {})

    def _build(self, value: Any, stream: Any, context: Any, path: Any) -> Any:
        for name, inner in self.plain:
            inner._build(value[name], stream, context, path)
        if self.flexible:
            self._build_tags(value, stream, context, path)
        return value

    def _build_tags(self, value: Any, stream: Any, context: Any, path: Any) -> None:
        section = dict(value.get(UNKNOWN, {}))
        for tag, (name, inner, default) in self.tagged.items():
            if value[name] != default:
                section[tag] = inner.build(value[name])
        VarInt._build(len(section), stream, context, path)
        for tag in sorted(section):
            VarInt._build(tag, stream, context, path)
            Prefixed(VarInt, GreedyBytes)._build(section[tag], stream, context, path)


def load(text: str) -> dict[str, Any]:
    """The raw specification: JSON with comments."""
    plain = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda found: found[1] or "", text, flags=re.DOTALL)
    raw: dict[str, Any] = json.loads(plain)
    return raw


def grammar(spec: dict[str, Any], version: int) -> Construct:
    return _Grammar(spec, version).record(spec.get("fields", []))


class _Grammar:
    def __init__(self, spec: dict[str, Any], version: int) -> None:
        self.version = version
        self.flexible = inside(spec.get("flexibleVersions", "none"), version)
        self.common = {struct["name"]: struct["fields"] for struct in spec.get("commonStructs", ())}

    def record(self, fields: list[dict[str, Any]]) -> Record:
        plain: list[tuple[str, Construct]] = []
        tagged: dict[int, tuple[str, Construct, Any]] = {}
        for field in fields:
            tags = field.get("taggedVersions", "none")
            if not inside(field.get("versions", tags), self.version):
                continue
            if inside(tags, self.version):
                tagged[int(field["tag"])] = (field["name"], self.value(field, True), self.default(field))
            else:
                plain.append((field["name"], self.value(field, False)))
        return Record(plain, tagged, self.flexible)

    def value(self, field: dict[str, Any], tagged: bool) -> Construct:
        kind = field["type"].removeprefix("[]")
        array = field["type"] != kind
        nullable = inside(field.get("nullableVersions", "none"), self.version)
        compact = inside(field["flexibleVersions"], self.version) if "flexibleVersions" in field else self.flexible
        if kind in PRIMITIVES:
            inner = PRIMITIVES[kind]
        elif kind in ("string", "bytes", "records"):
            plain = Int16sb if kind == "string" else Int32sb
            inner = Blob(VarInt if compact else plain, int(compact), nullable and not array, kind == "string")
        else:
            inner = self.record(field.get("fields") or self.common[kind])
            inner = Perhaps(inner, tagged) if nullable and not array else inner
        return Sequence(VarInt if compact else Int32sb, int(compact), nullable, inner) if array else inner

    def default(self, field: dict[str, Any]) -> Any:
        written, kind = field.get("default"), field["type"]
        if written == "null" or kind == "records":
            return None
        if kind.startswith("[]"):
            return []
        if kind in SCALARS:
            return SCALARS[kind](written)
        return {
            inner["name"]: self.default(inner) for inner in field.get("fields") or self.common[kind] if self.has(inner)
        }

    def has(self, field: dict[str, Any]) -> bool:
        return inside(field.get("versions", field.get("taggedVersions", "none")), self.version)


def _integer(written: Any) -> int:
    return int(str(written or 0), 0)


SCALARS: dict[str, Any] = {
    "bool": lambda written: str(written).lower() == "true",
    "string": lambda written: written or "",
    "bytes": lambda written: b"",
    "float64": lambda written: float(written or 0),
    "uuid": lambda written: base64.urlsafe_b64decode(written + "==") if written else bytes(16),
} | dict.fromkeys(("int8", "int16", "uint16", "int32", "uint32", "int64"), _integer)


def inside(versions: str, version: int) -> bool:
    """Whether `3`, `3-7`, `3+` or `none` holds a version."""
    if versions == "none":
        return False
    if versions.endswith("+"):
        return int(versions[:-1]) <= version
    low, _, high = versions.partition("-")
    return int(low) <= version <= int(high or low)


def _null(allowed: bool) -> None:
    if not allowed:
        raise StreamError("null stands where there is none")
