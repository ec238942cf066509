"""Random messages that prefer edge cases: nulls, empty and long arrays, lowest and highest numbers,
every tagged field set and unset.

The first messages of a seed follow one mood each, so that every version of every message meets
every edge case; later ones mix all moods. This module makes only messages that Kafka accepts too:
what it refuses is in `refusing` and in the table of differences.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from kafkadouble.messages.fields import INTEGERS, FieldInfo, fields_of, is_flexible
from kafkadouble.messages.message import Message, Struct
from kafkadouble.messages.uuid import Uuid


class Mood(NamedTuple):
    """How a message is made. `null` and `tagged` are probabilities that a nullable field is null,
    and that a tagged field is set; `sizes` are the lengths of arrays."""

    null: float
    tagged: float
    sizes: tuple[int, ...]
    numbers: str = "any"


MOODS = {
    "nulls": Mood(1, 1, (0,), "zero"),
    "lowest": Mood(0, 1, (1,), "lowest"),
    "highest": Mood(0, 1, (1, 2), "highest"),
    "empty": Mood(0, 1, (0,)),
    "untagged": Mood(0.3, 0, (0, 1, 2)),
    "tagged": Mood(0.3, 1, (0, 1, 2)),
    "long": Mood(0.1, 0.5, (126, 127, 128)),
    "any": Mood(0.3, 0.6, (0, 1, 2, 3)),
}
"""The mood "defaults" precedes these: a message with all fields at their defaults."""

STRUCTS = 40
"""The number of structs in all arrays together, in a message that is not long."""

_INTEGERS = {
    kind: tuple(
        edge
        for edge in (low, low + 1, -128, -2, -1, 0, 1, 2, 127, 128, 255, 32767, high - 1, high)
        if low <= edge <= high
    )
    for kind, (low, high) in INTEGERS.items()
}
_FLOATS = (0.0, -0.0, 1.5, -2.25, 0.1, 5e-324, 1e300, 1.7976931348623157e308, math.inf, -math.inf, math.nan)
_TEXTS = ("", "a", "\0", "tópic-☃", "\U0001f600", '"\\\n\r\t\x1f\x7f\u2028', "x" * 126, "y" * 127, "é" * 64)
_LONG_TEXTS = ("w" * 300, "v" * 16382, "u" * 16383, "é" * 8192, "t" * 32767)
_BYTES = (b"", b"\0", b"\xff\x80\x00", bytes(126), bytes(127), bytes(range(128)))
_TAGS = (0, 1, 2, 3, 5, 9, 100, 127, 128, 16383, 16384, (1 << 31) - 2)
_TAG_DATA = (b"", b"\0", b"abc", bytes(127), bytes(128))


class Maker:
    """Makes messages from one seed."""

    def __init__(self, seed: object) -> None:
        self.dice = random.Random(str(seed))
        self._mood = MOODS["any"]
        self._left = 0

    def messages(self, cls: type[Message], version: int, count: int) -> Iterator[Message]:
        """`count` messages: the default, one of each mood, then any."""
        yield cls()
        moods = list(MOODS)
        for number in range(count - 1):
            yield self.message(cls, version, moods[min(number, len(moods) - 1)])

    def message(self, cls: type[Message], version: int, mood: str) -> Message:
        self._mood = MOODS[mood]
        self._left = max(STRUCTS, self._mood.sizes[-1])
        made = self._struct(cls, version)
        assert isinstance(made, Message)
        return made

    def _struct(self, cls: type[Struct], version: int) -> Struct:
        made = cls()
        dice, mood = self.dice, self._mood
        for field in fields_of(cls):
            if not field.present(version):
                # An ignorable field that the version lacks is left out without an error.
                if field.ignorable and dice.random() < 0.2:
                    setattr(made, field.name, self._value(field, version))
            elif not field.is_tagged(version) or dice.random() < mood.tagged:
                setattr(made, field.name, self._value(field, version))
        return made

    def _value(self, field: FieldInfo, version: int) -> Any:
        if self._mood.null and field.is_nullable(version) and self.dice.random() < self._mood.null:
            return None
        if not field.array:
            return self._element(field, version)
        size = self.dice.choice(self._mood.sizes)
        if field.struct is None:
            return tuple(self._element(field, version) for _ in range(size))
        size = min(size, self._left)
        self._left -= size
        return [self._element(field, version) for _ in range(size)]

    def _element(self, field: FieldInfo, version: int) -> Any:
        if field.struct is not None:
            return self._struct(field.struct, version)
        kind = field.type
        if kind in _INTEGERS:
            return self._integer(kind)
        return _SCALARS[kind](self.dice)

    def _integer(self, kind: str) -> int:
        low, high = INTEGERS[kind]
        match self._mood.numbers:
            case "lowest":
                return low
            case "highest":
                return high
            case "zero":
                return 0
        return self.dice.choice(_INTEGERS[kind]) if self.dice.random() < 0.6 else self.dice.randint(low, high)

    def add_unknown_tags(self, message: Message, version: int) -> bool:
        """Puts tags that no version of Kafka knows into structs of a flexible version; False if
        there was no struct to change."""
        if not is_flexible(type(message), version):
            return False
        for struct in structs_of(message, version):
            if struct is message or self.dice.random() < 0.3:
                known = {field.tag for field in fields_of(type(struct))}
                tags = sorted(set(self.dice.choices(_TAGS, k=3)) - known)
                _set_tags(struct, {tag: self.dice.choice(_TAG_DATA) for tag in tags})
        return True


def _set_tags(struct: Any, tags: dict[int, bytes]) -> None:
    # Every struct class has this slot, but not their base class.
    struct.unknown_tagged_fields = tags


def structs_of(struct: Struct, version: int) -> Iterator[Struct]:
    """A message and the structs inside it that the version carries."""
    yield struct
    for field in fields_of(type(struct)):
        if field.struct is not None and field.present(version):
            value = getattr(struct, field.name)
            for inner in value if field.array and value else (value,):
                if isinstance(inner, Struct):
                    yield from structs_of(inner, version)


def _text(dice: random.Random) -> str:
    return dice.choice(_TEXTS if dice.random() < 0.99 else _LONG_TEXTS)


def _some_bytes(dice: random.Random) -> bytes:
    return dice.choice(_BYTES) if dice.random() < 0.99 else bytes(17000)


_SCALARS = {
    "bool": lambda dice: dice.random() < 0.5,
    "float64": lambda dice: dice.choice(_FLOATS),
    "uuid": lambda dice: dice.choice((Uuid.ZERO, Uuid.METADATA_TOPIC_ID, Uuid(b"\xff" * 16), Uuid(dice.randbytes(16)))),
    "string": _text,
    "bytes": _some_bytes,
    "records": _some_bytes,
}
