"""Records of Kafka's internal topics, as its own serdes read and write them: framed metadata
records, prefixed coordinator records."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from kafkadouble.messages import registry
from kafkadouble.messages.coordinator import FAMILIES, encode_key, encode_value, value_class
from kafkadouble.messages.framed import encode_record

from .java import SAME, Witness
from .making import Maker

SEED = 20261123

Count = Callable[[str, object], None]
Question = tuple[tuple[str, ...], list[str]]


@pytest.mark.parametrize(("family", "versions"), [("metadata", 38), ("storage", 4)])
def test_metadata_records(family: str, versions: int, witness: Witness, dose: int, record_property: Count) -> None:
    questions = list(framed(family, dose))
    check(witness, questions)
    assert len(questions) == versions * dose
    record_property("framed records", len(questions))


def framed(family: str, dose: int) -> Iterator[Question]:
    for entry in registry.entries("metadata", family):
        for version in range(entry.versions[0], entry.versions[1] + 1):
            maker = Maker((SEED, entry.name, version))
            for message in maker.messages(entry.message, version, dose):
                maker.add_unknown_tags(message, version)
                yield ("framed", family, encode_record(message, version).hex()), [f"{entry.name} {version}", SAME]


@pytest.mark.parametrize(("family", "versions"), [*zip(FAMILIES.values(), (30, 2, 2), strict=True)])
def test_coordinator_records(family: str, versions: int, witness: Witness, dose: int, record_property: Count) -> None:
    questions = list(prefixed(family, dose))
    check(witness, questions)
    assert len(questions) == versions * dose
    record_property("framed records", len(questions))


def prefixed(family: str, dose: int) -> Iterator[Question]:
    for entry in registry.entries("coordinator-key", family):
        values = value_class(entry.message())
        for version in range(values.versions[0], values.versions[1] + 1):
            maker = Maker((SEED, entry.name, version))
            pairs = zip(maker.messages(entry.message, 0, dose), maker.messages(values, version, dose), strict=True)
            for key, value in pairs:
                maker.add_unknown_tags(value, version)
                data = encode_key(key).hex(), encode_value(value, version).hex()
                yield ("record", family, *data), [f"{entry.name} {values.__name__} {version}", SAME, SAME]


def check(witness: Witness, questions: list[Question]) -> None:
    for question, _ in questions:
        witness.ask(*question)
    for question, expected in questions:
        assert witness.answered() == expected, question
