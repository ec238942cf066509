"""The fields of a generated class as data, from the specification, for code that is slow and
general.

Generated classes carry one line of text per field, which is parsed here on first use. Tracing,
error messages, JSON and documentation use the fields; the codecs do not.
"""

from __future__ import annotations

import sys

from .message import OWN_DEFAULTS, Message, Struct
from .uuid import Uuid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

INTEGERS = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
}
SIZES = {"bool": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "float64": 8, "uuid": 16}
NO_VERSIONS = (0, -1)
OPEN = 32767
"""The end of an open range of versions."""


class FieldInfo:
    """One field. Ranges of versions are (lowest, highest), empty when lowest > highest; `type` is
    the element's for an array."""

    __slots__ = (
        "array",
        "default",
        "flexible",
        "ignorable",
        "kafka_name",
        "key",
        "name",
        "nullable",
        "struct",
        "tag",
        "tagged",
        "type",
        "versions",
    )  # fmt: skip

    def __init__(self, row: str, owner: type[Message]) -> None:
        row, _, default = row.partition(" default=")
        self.name, self.kafka_name, kind, versions, *more = row.split(" ")
        self.array = kind.startswith("[]")
        self.type = kind.removeprefix("[]")
        self.versions = _range(versions)
        marks = dict(mark.partition("=")[::2] for mark in more)
        self.nullable = _range(marks.get("null", "none"))
        tag, _, tagged = marks.get("tag", "").partition("@")
        self.tag = int(tag) if tag else None
        self.tagged = _range(tagged or "none")
        self.flexible = _range(marks["flexible"]) if "flexible" in marks else None
        self.ignorable = "ignorable" in marks
        self.key = "key" in marks
        self.struct: type[Struct] | None = getattr(owner, self.type) if self.type[0].isupper() else None
        self.default = self._default(default)

    @property
    def json_name(self) -> str:
        """The name in Kafka's JSON: the first letter small."""
        return self.kafka_name[0].lower() + self.kafka_name[1:]

    def present(self, version: int) -> bool:
        return self.versions[0] <= version <= self.versions[1]

    def is_tagged(self, version: int) -> bool:
        return self.tagged[0] <= version <= self.tagged[1]

    def is_nullable(self, version: int) -> bool:
        return self.nullable[0] <= version <= self.nullable[1]

    def is_compact(self, version: int, flexible: bool) -> bool:
        """Whether lengths are varints: as in the whole message, unless the field says otherwise."""
        return flexible if self.flexible is None else self.flexible[0] <= version <= self.flexible[1]

    def initial(self) -> Any:
        """A new value equal to the default."""
        if self.default is OWN_DEFAULTS and self.struct is not None:
            return self.struct()
        return self.default

    def is_default(self, value: Any) -> bool:
        """Whether a value is the default, as Kafka compares: any empty array or bytes is."""
        if value is None or self.default is None:
            return value is self.default
        if self.array or self.type in ("bytes", "records"):
            return len(value) == 0
        return bool(value == self.initial())

    def _default(self, text: str) -> Any:
        if text == "null":
            return None
        if self.array:
            return ()
        if self.struct is not None:
            return OWN_DEFAULTS
        return _SCALARS[self.type](text) if self.type in _SCALARS else int(text or "0")

    def __repr__(self) -> str:
        kind = ("[]" if self.array else "") + self.type
        return f"FieldInfo({self.name}: {kind}, versions {self.versions[0]} to {self.versions[1]})"


_SCALARS: dict[str, Callable[[str], Any]] = {
    "bool": lambda text: text == "True",
    "float64": lambda text: float(text or "0"),
    "string": lambda text: text,
    "bytes": lambda text: b"",
    "records": lambda text: None,
    "uuid": lambda text: Uuid(bytes.fromhex(text)) if text else Uuid.ZERO,
}

_known: dict[type[Struct], tuple[FieldInfo, ...]] = {}


def fields_of(cls: type[Struct]) -> tuple[FieldInfo, ...]:
    """The fields of a message class or of a struct class inside one, in the order of the
    specification."""
    found = _known.get(cls)
    if found is None:
        owner = message_of(cls)
        found = _known[cls] = tuple(FieldInfo(row, owner) for row in cls._fields.splitlines())
    return found


def message_of(cls: type[Struct]) -> type[Message]:
    """The message class that a struct class belongs to; itself for a message class."""
    owner: type[Message] = getattr(sys.modules[cls.__module__], cls.__qualname__.partition(".")[0])
    return owner


def is_flexible(cls: type[Message], version: int) -> bool:
    """Whether this version has varint lengths and tag sections (KIP-482)."""
    return cls.flexible_from is not None and version >= cls.flexible_from


def _range(text: str) -> tuple[int, int]:
    if text == "none":
        return NO_VERSIONS
    low, dash, high = text.rstrip("+").partition("-")
    return int(low), OPEN if text.endswith("+") else int(high if dash else low)
