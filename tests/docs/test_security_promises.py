"""Every promise of SECURITY.md, and what it says that a client can do, names tests that exist."""

from __future__ import annotations

import re

import pytest

from tests.support.pages import ROOT

TABLES = ("| it can | test |", "| promise | test |")
FEWEST = 25
"""Promises: fewer are a page that is not read rightly."""

NAMED = re.compile(r"`((?:tests|interop)/[\w/]+\.py)(?:::(\w+))?`")


def promises() -> dict[str, list[tuple[str, str]]]:
    """The tests of each promise: their files and names."""
    found: dict[str, list[tuple[str, str]]] = {}
    is_table = False
    for line in (ROOT / "SECURITY.md").read_text().splitlines():
        is_table = line in TABLES or (is_table and line.startswith("|"))
        if is_table and line not in TABLES and not line.startswith("|---"):
            promise, tests = line.strip("| ").rsplit(" | ", 1)
            assert NAMED.sub("", tests).strip() == "", f"{promise}: only tests are in the second column"
            found[promise] = NAMED.findall(tests)
    return found


def test_the_tables_are_read() -> None:
    assert len(promises()) >= FEWEST


@pytest.mark.parametrize("promise", promises())
def test_security_promise_names_tests_that_exist(promise: str) -> None:
    tests = promises()[promise]
    assert tests
    for path, name in tests:
        text = (ROOT / path).read_text()
        assert re.search(rf"def {name}\b" if name else r"def test_", text), f"{path} has no {name}"
