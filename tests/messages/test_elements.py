"""Elements are counted as the reader makes them, in any message, from its bytes alone."""

from __future__ import annotations

import random
from typing import Any

from kafkadouble.messages import MetadataRequest
from kafkadouble.messages.elements import NUMBERS_IN_ONE, exceed
from kafkadouble.messages.fields import SIZES, fields_of
from kafkadouble.messages.message import Struct

from .making import Maker, every_version

SEED = 20261122


def elements(struct: Any) -> int:
    found = 0
    for field in fields_of(type(struct)):
        value = getattr(struct, field.name)
        if value is None:
            continue
        if field.array:
            found += len(value) // NUMBERS_IN_ONE if field.type in SIZES else len(value)
        if field.struct is not None:
            found += sum(map(elements, value if field.array else [value]))
    return found


def without_tags(struct: Struct, version: int) -> None:
    """What stands in tags is only estimated."""
    for field in fields_of(type(struct)):
        value = getattr(struct, field.name)
        if field.is_tagged(version):
            setattr(struct, field.name, field.initial())
        elif field.struct is not None and value is not None:
            for each in value if field.array else [value]:
                without_tags(each, version)


def test_every_message_has_as_many_as_are_counted() -> None:
    for cls, version in every_version():
        message = Maker((SEED, cls.__name__, version), unknown=0).message(cls, version)
        without_tags(message, version)
        wire = message.encode(version)
        count = elements(cls.decode(wire, version))
        assert not exceed(cls, wire, version, 0, count), (cls, version)
        assert count == 0 or exceed(cls, wire, version, 0, count - 1), (cls, version)


def test_unreadable_message_does_not_exceed_element_limit() -> None:
    dice = random.Random(SEED)
    for cls, version in every_version():
        wire = bytearray(Maker((SEED, cls.__name__, version), longest=3).message(cls, version).encode(version))
        exceed(cls, bytes(wire[: len(wire) // 2]), version, 0, 10**9)
        for _ in range(3 if wire else 0):
            wire[dice.randrange(len(wire))] = dice.choice((0, 1, 127, 128, 255))
        exceed(cls, bytes(wire), version, 0, 10**9)


def test_request_with_too_many_elements_is_refused_early() -> None:
    flood = (10**6).to_bytes(4) + bytes(2 * 10**6)
    assert exceed(MetadataRequest, flood, 1, 0, 1000)
    assert not exceed(MetadataRequest, flood, 1, 0, 10**6)
    assert exceed(MetadataRequest, (2**31 - 1).to_bytes(4) + bytes(5000), 1, 0, 1000)


def test_tags_count_too() -> None:
    tags = b"".join(tag.to_bytes(1) + b"\0" for tag in range(100))
    wire = MetadataRequest(topics=None).encode(12)[:-1] + b"\x64" + tags
    assert exceed(MetadataRequest, wire, 12, 0, 99)
    assert not exceed(MetadataRequest, wire, 12, 0, 100)
