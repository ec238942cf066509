"""The model of a checked message specification: plain frozen data. The module `spec` creates the
model, and all other modules read it."""

from __future__ import annotations

from dataclasses import dataclass

from .versions import Versions

FIXED = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}
"""Types of a fixed size, with their letters in the `struct` module."""

SIZE = {"?": 1, "b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8, "d": 8, "16s": 16}

VARIABLE = ("string", "bytes", "records")
"""Types that begin with a length."""

INTEGERS = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
}


class SpecError(ValueError):
    """A specification breaks a rule of the language; the text names the file, the struct and the
    field."""


class _OwnDefaults:
    """The default of a struct that cannot be null: a struct whose fields have their own
    defaults."""

    def __repr__(self) -> str:
        return "OWN_DEFAULTS"


OWN_DEFAULTS = _OwnDefaults()


@dataclass(frozen=True, slots=True, eq=False)
class FieldSpec:
    """One field. `type` is the element's type when `array` is set; `struct` is set when that type
    is a struct."""

    name: str
    python: str
    type: str
    array: bool
    versions: Versions
    nullable: Versions
    tagged: Versions
    tag: int | None
    flexible: Versions | None
    default: object
    ignorable: bool
    map_key: bool
    struct: StructSpec | None
    about: str

    @property
    def lazy(self) -> bool:
        """Whether the class creates the default struct on first use, instead of storing a struct in
        every object."""
        return self.struct is not None and not self.array and self.default is OWN_DEFAULTS and not self.nullable

    @property
    def slot(self) -> str:
        return "_" + self.python if self.lazy else self.python


@dataclass(slots=True, eq=False)
class StructSpec:
    """One struct for all versions; `versions` are the message versions that may use the struct."""

    name: str
    versions: Versions
    fields: tuple[FieldSpec, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class MessageSpec:
    """One specification file. `structs` are its nested structs, in order of appearance. A retired
    API has no version and no field."""

    name: str
    kind: str
    api_key: int | None
    valid: Versions
    flexible: Versions
    struct: StructSpec
    structs: tuple[StructSpec, ...]
    listeners: tuple[str, ...]
    unstable: bool
    source: str
