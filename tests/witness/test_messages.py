"""The generated codecs against the construct grammars: both read the same values from the same
bytes, and write the same bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkadouble.messages import registry
from kafkadouble.messages.message import Struct
from kafkadouble.messages.spec_form import spec_fields
from tests.messages.making import Maker

from .message_grammar import UNKNOWN, grammar, load

SEED = 20261127
SPECS = Path(__file__).resolve().parents[2] / "messages" / "specs"


def specs() -> Iterator[dict[str, Any]]:
    for path in sorted(SPECS.glob("*/*.json")):
        yield load(path.read_text(encoding="utf-8"))


def attribute(kafka: str) -> str:
    """The attribute of a field, computed without the code generator."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kafka).lower()
    return snake.replace("k_raft", "kraft")


def agree(value: Any, witness: Any, place: str) -> None:
    """Asserts that the witness's plain values equal those of the message, field by field."""
    if isinstance(value, Struct):
        unknown = witness.pop(UNKNOWN, None)
        assert value.unknown_tagged_fields == unknown, place
        for name, inner in witness.items():
            agree(getattr(value, attribute(name)), inner, f"{place}.{name}")
    elif isinstance(value, (list, tuple)):
        assert len(value) == len(witness), place
        for index, (one, other) in enumerate(zip(value, witness, strict=True)):
            agree(one, other, f"{place}[{index}]")
    else:
        assert value == witness, place


@pytest.mark.parametrize("family", ["clients", "metadata", "others"])
def test_the_witness_reads_and_writes_the_same(family: str) -> None:
    seen = 0
    for spec in specs():
        if not belongs(spec, family) or spec["validVersions"] == "none":
            continue
        cls = registry.message(spec["name"])
        for version in range(cls.versions[0], cls.versions[1] + 1):
            for turn in range(2):
                place = f"{cls.__name__} version {version}, turn {turn} of seed {SEED}"
                message = Maker((SEED, turn, cls.__name__, version), longest=3 if turn else 130).message(cls, version)
                wire = message.encode(version)
                rules = grammar(spec, version)
                witness = rules.parse(wire)
                assert rules.build(witness) == wire, place
                agree(cls.decode(wire, version), witness, place)
            seen += 1
    assert seen == {"clients": 618, "metadata": 42, "others": 84}[family]


def belongs(spec: dict[str, Any], family: str) -> bool:
    kind = {"request": "clients", "response": "clients", "metadata": "metadata"}.get(spec["type"], "others")
    return kind == family


def test_the_fields_in_spec_form_are_those_of_the_specifications() -> None:
    seen = 0
    for spec in specs():
        if spec["validVersions"] != "none":
            common = {each["name"]: each for each in spec.get("commonStructs", ())}
            alike(spec_fields(registry.message(spec["name"])), spec["fields"], common, spec["name"])
            seen += 1
    assert seen == 278


def alike(made: list[dict[str, Any]], given: list[dict[str, Any]], common: dict[str, Any], place: str) -> None:
    """Asserts that the fields are the same, as far as the spec form has them. Defaults are compared
    by meaning, not by JSON type."""
    assert [each["name"] for each in made] == [each["name"] for each in given], place
    for one, other in zip(made, given, strict=True):
        where = f"{place}.{one['name']}"
        assert one["versions"] == other.get("versions", other.get("taggedVersions")), where
        for name in ("type", "nullableVersions", "taggedVersions", "flexibleVersions", "tag"):
            assert one.get(name) == other.get(name), f"{where}: {name}"
        assert one.get("ignorable", False) == other.get("ignorable", False), where
        assert one.get("mapKey", False) == other.get("mapKey", False), where
        # To Kafka's generator a JSON null is the empty text, not null.
        given_default = other.get("default") or ""
        assert plain(one.get("default", "")) == plain(given_default), where
        inner = other.get("fields") or common.get(other["type"].removeprefix("[]"), {}).get("fields", [])
        alike(one.get("fields", []), inner, common, where)


def plain(default: Any) -> str:
    """The meaning of a default as text; empty if it equals the type's own default."""
    text = "null" if default is None else str(default).lower()
    text = str(int(text, 16)) if text.startswith("0x") else text
    return "" if text in ("0", "false", "[]") else text


def test_the_specifications_are_those_of_the_registry() -> None:
    described = {item["name"]: item for item in registry.describe()}
    seen = 0
    for spec in specs():
        found = described[spec["name"]]
        assert (found["kind"], found["apiKey"], found["validVersions"]) == (
            spec["type"],
            spec.get("apiKey"),
            spec["validVersions"],
        )
        assert found["latestVersionUnstable"] == spec.get("latestVersionUnstable", False)
        assert found["listeners"] == spec.get("listeners", [])
        seen += 1
    assert seen == len(described)
