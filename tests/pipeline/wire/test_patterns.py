"""Java's patterns, searched for in topics' names."""

from __future__ import annotations

import pytest

from kafkadouble.pipeline.wire.patterns import compiled
from kafkadouble.wire.errors import UsageError

NAMES = ["orders", "orders.v2", "Orders-EU", "clicks_2024", "a.b", "axb", "ü"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("orders", ["orders", "orders.v2"]),
        ("^orders$", ["orders"]),
        ("(?i)^orders", ["orders", "orders.v2", "Orders-EU"]),
        (r"\Qa.b\E", ["a.b"]),
        (r"\Qa.b", ["a.b"]),
        (r"\Aa.b\z", ["a.b", "axb"]),
        (r"(?<word>cl)icks_\d{4}\Z", ["clicks_2024"]),
        (r"^(?<first>.).(?!\k<first>)b$", ["a.b", "axb"]),
        (r"^\p{Lower}+$", ["orders", "axb"]),
        (r"^[\p{Upper}][\p{Alpha}]*+-", ["Orders-EU"]),
        (r"\P{Alnum}v", ["orders.v2"]),
        (r"^(?:orders|a(?>x)b)$", ["orders", "axb"]),
        (r"^\w$", []),
        (r"[\d&]{4}$", ["clicks_2024"]),
    ],
)
def test_pattern_finds_the_topics_that_java_finds(pattern: str, found: list[str]) -> None:
    assert [name for name in NAMES if compiled(pattern).search(name)] == found


@pytest.mark.parametrize(
    "pattern",
    ["[a-z&&[^b]]", "[a[bc]]", r"\p{IsGreek}", r"\X", r"\R", r"\G", "orders(?i)", "(?d)a", "(", "[]a]", r"[\P{Alpha}]"],
)
def test_pattern_syntax_that_only_java_has_is_refused_by_name(pattern: str) -> None:
    with pytest.raises(UsageError, match="the option subscribePattern cannot be used"):
        compiled(pattern)
