"""Defaults as Kafka reads them: always as text, a JSON null as the type's own empty value."""

from __future__ import annotations

import math

import pytest

from codegen.defaults import default_of
from codegen.model import OWN_DEFAULTS
from codegen.versions import MAX, NONE, Versions

from .press import field, parse, raw

ALL = Versions(0, MAX)


@pytest.mark.parametrize(
    ("kind", "written", "value"),
    [
        ("bool", None, False), ("bool", "true", True), ("bool", "False", False), ("bool", True, True), ("bool", False, False),
        ("int8", None, 0), ("int8", "-128", -128), ("int8", -1, -1), ("int16", "0x7fff", 32767), ("uint16", "65535", 65535),
        ("int32", "-2147483648", -2147483648), ("int32", "0x7fffffff", 2147483647), ("uint32", "0xffffffff", 4294967295),
        ("int64", "9223372036854775807", 2**63 - 1), ("int64", "0x7fffffffffffffff", 2**63 - 1), ("int64", 0, 0),
        ("float64", None, 0.0), ("float64", "-1.5", -1.5), ("float64", 2.5, 2.5),
        ("string", None, ""), ("string", "", ""), ("string", "read_committed", "read_committed"), ("string", 5, "5"),
        ("bytes", None, b""), ("records", None, None),
        ("uuid", None, bytes(16)), ("uuid", "H3KKO4NTRPaCWtEmm3vW7A", bytes.fromhex("1f728a3b835344f6825ad1269b7bd6ec")),
    ],
)  # fmt: skip
def test_defaults_of_scalar_fields(kind: str, written: object, value: object) -> None:
    found = default_of(written, kind, False, False, ALL, NONE)
    assert found == value
    assert type(found) is type(value)


def test_the_words_that_floats_know() -> None:
    assert math.isinf(default_of("Infinity", "float64", False, False, ALL, NONE))  # type: ignore[arg-type]  # a float it is


@pytest.mark.parametrize("kind", ["string", "bytes", "records"])
def test_default_null_of_a_spec_is_none(kind: str) -> None:
    assert default_of("null", kind, False, False, ALL, ALL) is None


def test_the_json_null_is_empty() -> None:
    """For example ConsumerGroupMemberMetadataValue.ClassicMemberMetadata, which is nullable,
    although its default is a struct."""
    assert default_of(None, "S", False, True, ALL, ALL) is OWN_DEFAULTS
    assert default_of(None, "int32", True, False, ALL, ALL) == ()
    assert default_of("null", "S", False, True, ALL, ALL) is None
    assert default_of("null", "int32", True, False, ALL, ALL) is None


def test_null_must_be_allowed_in_all_versions_of_the_field() -> None:
    versions = Versions(2, 3)
    assert default_of("null", "string", False, False, versions, Versions(1, MAX)) is None
    with pytest.raises(ValueError, match="not all versions are nullable"):
        default_of("null", "string", False, False, versions, Versions(3, MAX))


def test_a_struct_that_may_not_be_null_is_lazy() -> None:
    inner = [field("X", "int32")]
    message = parse(
        raw(
            field("A", "A1", fields=inner),
            field("B", "B1", fields=inner, nullableVersions="0+", default="null"),
            field("C", "C1", fields=inner, nullableVersions="0+"),
            field("D", "[]D1", fields=inner),
        )
    )
    assert [(item.name, item.lazy, item.slot) for item in message.struct.fields] == [
        ("A", True, "_a"),
        ("B", False, "b"),
        ("C", False, "c"),
        ("D", False, "d"),
    ]
