"""The current position in a specification, for error texts, and the structs that a field may
use."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass, replace

from .model import SpecError, StructSpec
from .versions import NONE, Versions


@dataclass(frozen=True, slots=True)
class Scope:
    """A position: file, struct, field. All positions of one message share `structs`, which grows
    with each struct that is read."""

    source: str
    struct: str = ""
    field: str = ""
    flexible: Versions = NONE
    common: dict[str, dict[str, object]] = dataclasses.field(default_factory=dict)
    structs: dict[str, StructSpec] = dataclasses.field(default_factory=dict)
    open: frozenset[str] = frozenset()

    def inside(self, struct: str) -> Scope:
        return replace(self, struct=struct, field="")

    def at(self, name: str) -> Scope:
        return replace(self, field=name)

    def opening(self, struct: str) -> Scope:
        """Remembers that `struct` is being read, so that it cannot contain itself."""
        return replace(self, open=self.open | {struct})

    def of_message(self, flexible: Versions, common: dict[str, dict[str, object]]) -> Scope:
        return replace(self, flexible=flexible, common=common, structs={})

    def error(self, problem: str) -> SpecError:
        path = ".".join(part for part in (self.struct, self.field) if part)
        return SpecError(f"{self.source}: {path}: {problem}" if path else f"{self.source}: {problem}")


def known_keys(raw: dict[str, object], known: Collection[str], scope: Scope) -> None:
    """Requires that every key is one of `known`."""
    for key in raw:
        if key not in known:
            raise scope.error(f"unknown key {key!r}")


def text_at(raw: dict[str, object], key: str, scope: Scope) -> str:
    """A text that is required."""
    value = raw.get(key)
    if not isinstance(value, str) or not value.strip():
        raise scope.error(f"{key} must be given, as text")
    return value.strip()


def versions_at(raw: dict[str, object], key: str, scope: Scope, absent: Versions | None = None) -> Versions:
    """A range of versions. If the key is missing, returns `absent`, or raises SpecError if `absent`
    is None."""
    value = raw.get(key)
    if value is None or value == "":
        if absent is None:
            raise scope.error(f"{key} must be given")
        return absent
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        raise scope.error(f"{key}: {value!r} is not a range of versions")
    try:
        return Versions.parse(str(value))
    except ValueError as error:
        raise scope.error(f"{key}: {error}") from None


def entries(raw: dict[str, object], key: str) -> list[object]:
    """A list. A single value counts as a list of one, as in Kafka."""
    value = raw.get(key)
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
