"""Derives the wire layout of one version of a message from the checked model: a tree of operations,
as plain data.

This file decides everything that depends on the version; the later stages (emitters, documentation,
tools) only walk the tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .model import FIXED, SIZE, FieldSpec, MessageSpec, StructSpec


@dataclass(frozen=True, slots=True)
class Fixed:
    """A value of a fixed size. `letter` is its letter in the `struct` module."""

    field: FieldSpec

    @property
    def letter(self) -> str:
        return FIXED[self.field.type]

    @property
    def size(self) -> int:
        return SIZE[self.letter]


@dataclass(frozen=True, slots=True)
class Variable:
    """A string, bytes or records: a length (an unsigned varint of length + 1 when compact, else
    int16 or int32), then bytes."""

    field: FieldSpec
    compact: bool
    nullable: bool


@dataclass(frozen=True, slots=True)
class Array:
    """A count (as a length, int32 when not compact), then the elements; an element is never
    null."""

    field: FieldSpec
    compact: bool
    nullable: bool
    element: Fixed | Variable | Layout


@dataclass(frozen=True, slots=True)
class Nested:
    """A struct in place. `marker` is the form of the null marker: `int8` (-1 or 1), `uvarint` (0 or
    1), or none."""

    field: FieldSpec
    marker: str
    layout: Layout


Op: TypeAlias = Fixed | Variable | Array | Nested


@dataclass(frozen=True, slots=True)
class Layout:
    """One struct in one version: `ops` in the order of the wire, then, when flexible, the tag
    section; `absent` fields take their defaults."""

    struct: StructSpec
    version: int
    flexible: bool
    ops: tuple[Op, ...]
    tags: tuple[Op, ...]
    absent: tuple[FieldSpec, ...]

    @property
    def fixed(self) -> bool:
        """Whether every value has a fixed size (the tag section aside)."""
        return bool(self.ops) and all(isinstance(op, Fixed) for op in self.ops)


def layout_of(message: MessageSpec, version: int) -> Layout:
    """The layout of a whole message; ValueError when it has no such version."""
    if version not in message.valid:
        raise ValueError(f"{message.name} has versions {message.valid}, not {version}")
    return _struct(message.struct, version, version in message.flexible)


def _struct(struct: StructSpec, version: int, flexible: bool) -> Layout:
    live = [field for field in struct.fields if version in field.versions]
    tagged = sorted((field for field in live if version in field.tagged), key=lambda field: field.tag or 0)
    return Layout(
        struct,
        version,
        flexible,
        tuple(_op(field, version, flexible) for field in live if version not in field.tagged),
        tuple(_op(field, version, flexible) for field in tagged),
        tuple(field for field in struct.fields if version not in field.versions),
    )


def _op(field: FieldSpec, version: int, flexible: bool) -> Op:
    compact = flexible if field.flexible is None else version in field.flexible
    nullable = version in field.nullable
    if field.array:
        return Array(field, compact, nullable, _element(field, version, flexible, compact))
    if field.struct is not None:
        marker = ("uvarint" if version in field.tagged else "int8") if nullable else ""
        return Nested(field, marker, _struct(field.struct, version, flexible))
    if field.type in FIXED:
        return Fixed(field)
    return Variable(field, compact, nullable)


def _element(field: FieldSpec, version: int, flexible: bool, compact: bool) -> Fixed | Variable | Layout:
    if field.struct is not None:
        return _struct(field.struct, version, flexible)
    if field.type in FIXED:
        return Fixed(field)
    return Variable(field, compact, nullable=False)
