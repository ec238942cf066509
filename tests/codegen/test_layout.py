"""Layouts: what a version has, in which order, in which form."""

from __future__ import annotations

import pytest

from codegen.layout import Array, Fixed, Layout, Nested, Variable, layout_of

from .press import field, parse, raw


def layout(version: int, *fields: dict[str, object]) -> Layout:
    return layout_of(parse(raw(*fields)), version)


def test_untagged_fields_come_first_and_tags_rise() -> None:
    fields = [
        field("T1", "int8", "2+", tag=1, taggedVersions="2+"),
        field("A", "int8"),
        field("T0", "int8", "2+", tag=0, taggedVersions="2+"),
        field("B", "int8"),
    ]
    found = layout(2, *fields)
    assert [op.field.name for op in found.ops] == ["A", "B"]
    assert [op.field.name for op in found.tags] == ["T0", "T1"]
    before = layout(1, *fields)
    assert [op.field.name for op in before.ops] == ["A", "B"]
    assert before.tags == ()
    assert [absent.name for absent in before.absent] == ["T1", "T0"]


def test_a_field_may_become_tagged() -> None:
    fields = [field("A", "int8", "1+", tag=0, taggedVersions="3+")]
    assert [len(layout(version, *fields).ops) for version in (0, 1, 2, 3)] == [0, 1, 1, 0]
    assert [len(layout(version, *fields).tags) for version in (2, 3)] == [0, 1]


def test_lengths_are_compact_in_flexible_versions() -> None:
    fields = [field("A", "[]string"), field("B", "string", flexibleVersions="none")]
    for version, compact in ((1, False), (2, True)):
        one, other = layout(version, *fields).ops
        assert isinstance(one, Array)
        assert isinstance(one.element, Variable)
        assert isinstance(other, Variable)
        assert (one.compact, one.element.compact, other.compact) == (compact, compact, False)


def test_nullability_of_an_array_field_is_not_that_of_its_elements() -> None:
    (op,) = layout(1, field("A", "[]string", nullableVersions="1+")).ops
    assert isinstance(op, Array)
    assert isinstance(op.element, Variable)
    assert (op.nullable, op.element.nullable) == (True, False)
    (before,) = layout(0, field("A", "[]string", nullableVersions="1+")).ops
    assert isinstance(before, Array)
    assert not before.nullable


def test_presence_of_a_nullable_struct_is_marked() -> None:
    inner = [field("X", "int8")]
    fields = [
        field("A", "A1", fields=inner),
        field("B", "B1", fields=inner, nullableVersions="1+"),
        field("C", "C1", "2+", fields=inner, nullableVersions="2+", tag=0, taggedVersions="2+"),
    ]
    found = layout(2, *fields)
    assert [op.marker for op in (*found.ops, *found.tags) if isinstance(op, Nested)] == ["", "int8", "uvarint"]
    assert [op.marker for op in layout(0, *fields).ops if isinstance(op, Nested)] == ["", ""]


def test_structs_of_one_size_are_known() -> None:
    (op,) = layout(0, field("A", "[]S", fields=[field("X", "int8"), field("Y", "string", "2+")])).ops
    assert isinstance(op, Array)
    assert isinstance(op.element, Layout)
    assert op.element.fixed
    assert [isinstance(inner, Fixed) and inner.size for inner in op.element.ops] == [1]


def test_a_version_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="Example has versions 0-3, not 4"):
        layout(4)
