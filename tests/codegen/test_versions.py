"""Ranges of versions: `none`, `3`, `3-7`, `3+`."""

from __future__ import annotations

import pytest

from codegen.versions import MAX, NONE, Versions


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("none", 0, -1), ("3", 3, 3), ("3-7", 3, 7), ("3+", 3, MAX), (" 0+ ", 0, MAX), ("5-5", 5, 5)],
)
def test_versions_are_parsed_in_all_four_forms(text: str, low: int, high: int) -> None:
    found = Versions.parse(text)
    assert (found.low, found.high) == (low, high)


@pytest.mark.parametrize(
    "text", ["", "x", "-1", "3-", "-3", "7-3", "3-7+", "32768", "0-32768", "1,2", "3 - 7", "NONE", "+"]
)
def test_anything_else_is_no_range(text: str) -> None:
    with pytest.raises(ValueError, match="is not a range of versions"):
        Versions.parse(text)


@pytest.mark.parametrize("text", ["none", "3", "3-7", "3+"])
def test_a_range_is_written_as_it_was_read(text: str) -> None:
    assert str(Versions.parse(text)) == text


def test_a_range_contains_its_versions() -> None:
    versions = Versions(2, 4)
    assert list(versions) == [2, 3, 4]
    assert [version in versions for version in (1, 2, 4, 5)] == [False, True, True, False]
    assert not versions.open
    assert Versions(2, MAX).open


def test_version_range_none_is_empty() -> None:
    assert not NONE
    assert list(NONE) == []
    assert 0 not in NONE


@pytest.mark.parametrize(
    ("one", "other", "both"), [("1-5", "3+", "3-5"), ("1-2", "3+", "none"), ("0+", "4", "4"), ("none", "0+", "none")]
)
def test_intersection_of_two_version_ranges(one: str, other: str, both: str) -> None:
    assert Versions.parse(one) & Versions.parse(other) == Versions.parse(both)
    assert Versions.parse(other) & Versions.parse(one) == Versions.parse(both)


@pytest.mark.parametrize(
    ("inner", "outer", "inside"),
    [
        ("2-3", "0+", True),
        ("2+", "2+", True),
        ("1-3", "2+", False),
        ("2+", "2-9", False),
        ("none", "none", True),
        ("none", "4", True),
        ("4", "none", False),
    ],
)
def test_a_range_is_within_another(inner: str, outer: str, inside: bool) -> None:
    assert Versions.parse(inner).within(Versions.parse(outer)) is inside
