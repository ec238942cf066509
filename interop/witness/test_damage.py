"""Damaged bytes: if Kafka reads them, we read the same; if it refuses them, we refuse them.
`differences` lists the exceptions with their reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from kafkadouble.messages import registry
from kafkadouble.messages.message import Message
from kafkadouble.wire.errors import WireError

from .damaging import damaged
from .differences import DIFFERENCES, explained
from .java import SAME, THROWN, Witness
from .making import Maker

SEED = 20261124
MOODS = ("untagged", "tagged", "lowest", "highest", "any")
LONGEST = 4000

FAMILIES = sorted({(entry.kind, entry.family) for entry in registry.entries()})

Count = Callable[[str, object], None]


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("family", FAMILIES, ids=" of ".join)
def test_damaged_messages(family: tuple[str, str], witness: Witness, dose: int, record_property: Count) -> None:
    print(f"seed {SEED}")
    seen = 0
    for entry in registry.entries(*family):
        messages = [] if entry.retired else list(damaged_messages(entry.name, dose))
        for version, data in messages:
            witness.ask("rewrite", entry.name, version, data.hex())
        for version, data in messages:
            compare(entry.message, version, data, witness.answered())
        seen += len(messages)
    record_property("damaged messages", seen)


def damaged_messages(name: str, dose: int) -> Iterator[tuple[int, bytes]]:
    cls = registry.message(name)
    for version in range(cls.versions[0], cls.versions[1] + 1):
        maker = Maker((SEED, name, version))
        for number in range(max(dose // 4, 1)):
            message = maker.message(cls, version, MOODS[number % len(MOODS)])
            if number % 3 == 0:
                maker.add_unknown_tags(message, version)
            data = message.encode(version)
            if len(data) <= LONGEST:
                yield version, damaged(data, maker.dice)
                yield version, damaged(data, maker.dice)


def compare(cls: type[Message], version: int, data: bytes, answer: list[str]) -> None:
    theirs, left = (data.hex() if answer[0] == SAME else answer[0]), int(answer[1])
    try:
        message, end = cls.read(data, version)
        ours: str | WireError = message.encode(version).hex()
    except WireError as error:
        ours = error
    if isinstance(ours, WireError) and theirs.startswith(THROWN):
        return
    if ours == theirs and end == len(data) - left:
        return
    known = explained(cls, version, ours, theirs)
    assert known in DIFFERENCES, (
        f"{cls.__name__} version {version} of {data.hex()}:\n{ours!r}\n{theirs}, {left} bytes left"
    )
