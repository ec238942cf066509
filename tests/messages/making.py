"""Random messages from a seed: any message in any version, with a value in every field that the
version has."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from kafkadouble.messages import registry
from kafkadouble.messages.fields import INTEGERS, FieldInfo, fields_of, is_flexible
from kafkadouble.messages.message import Message, Struct
from kafkadouble.messages.uuid import Uuid

TEXTS = ("", "a", "tópic-☃", "x" * 126, "y" * 127, "z" * 128, "w" * 300)


def every_version() -> Iterator[tuple[type[Message], int]]:
    """All messages that have versions, in all of them."""
    for entry in registry.entries():
        if not entry.retired:
            for version in range(entry.versions[0], entry.versions[1] + 1):
                yield entry.message, version


class Maker:
    """Makes messages from one seed. `unknown` is the probability of unknown tags in a struct;
    `longest` is the most elements in an array of numbers."""

    def __init__(self, seed: object, unknown: float = 0.2, longest: int = 130) -> None:
        self.dice = random.Random(str(seed))
        self.unknown, self.longest = unknown, longest

    def message(self, cls: type[Message], version: int) -> Message:
        made = self.struct(cls, version, is_flexible(cls, version))
        assert isinstance(made, Message)
        return made

    def struct(self, cls: type[Struct], version: int, flexible: bool) -> Struct:
        made = cls()
        tags = {field.tag for field in fields_of(cls) if field.is_tagged(version)}
        for field in fields_of(cls):
            if field.present(version) and not (field.is_tagged(version) and self.dice.random() < 0.4):
                setattr(made, field.name, self.value(field, version, flexible))
        if flexible and self.dice.random() < self.unknown:
            setattr(made, "unknown_tagged_fields", self.tags(tags))  # noqa: B010  # a slot of every struct class, not of their base
        return made

    def tags(self, taken: set[int | None]) -> dict[int, bytes]:
        numbers = {self.dice.choice((self.dice.randrange(8), self.dice.randrange(200), 1 << 20)) for _ in range(3)}
        return {
            tag: self.dice.randbytes(self.dice.choice((0, 3, 200))) for tag in sorted(numbers) if tag not in taken
        } or {500: b""}

    def value(self, field: FieldInfo, version: int, flexible: bool) -> Any:
        if field.is_nullable(version) and self.dice.random() < 0.3:
            return None
        if not field.array:
            return self.element(field, version, flexible)
        sizes = (0, 1, 2, 3) if field.struct or field.type == "string" else (0, 1, 2, 126, 127, 128, 130)
        size = min(self.dice.choice(sizes), self.longest)
        elements = [self.element(field, version, flexible) for _ in range(size)]
        return elements if field.struct else tuple(elements)

    def element(self, field: FieldInfo, version: int, flexible: bool) -> Any:
        if field.struct is not None:
            return self.struct(field.struct, version, flexible)
        return self.scalar(field.type)

    def scalar(self, kind: str) -> Any:
        dice = self.dice
        if kind in INTEGERS:
            low, high = INTEGERS[kind]
            return dice.choice((low, high, 0, 1, dice.randint(low, high)))
        if kind == "bool":
            return dice.random() < 0.5
        if kind == "float64":
            return dice.choice((0.0, 1.5, -2.25, 1e300))
        if kind == "uuid":
            return Uuid(dice.choice((bytes(16), dice.randbytes(16))))
        if kind == "string":
            return dice.choice(TEXTS)
        return dice.randbytes(dice.choice((0, 5, 126, 127, 128, 17000)))
