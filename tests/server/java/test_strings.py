"""Java's strings: hashes and lengths as Java gives them."""

from __future__ import annotations

import pytest

from kafkadouble.server.java.strings import java_hash, java_length


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 0),
        ("a", 97),
        ("ab", 31 * 97 + 98),
        ("Aa", 2112),
        ("BB", 2112),
        ("hello", 99162322),
        ("polygenelubricants", -(2**31)),  # the famous one
        ("consumers", -421004483),
        ("billing", -109829509),
        ("gr\u00fcn", 3185949),
        ("\U0001f600", 1772899),
    ],
)
def test_a_hash_is_that_of_java(text: str, value: int) -> None:
    assert java_hash(text) == value


@pytest.mark.parametrize(("text", "length"), [("", 0), ("abc", 3), ("\u00e4", 1), ("\U0001f600", 2)])
def test_a_length_is_that_of_java(text: str, length: int) -> None:
    assert java_length(text) == length
