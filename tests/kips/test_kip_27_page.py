"""docs/conditional-publish.md: its program runs, every row of its last table names tests, and they
exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HOUSE = Path(__file__).resolve().parents[2]
PAGE = (HOUSE / "docs" / "conditional-publish.md").read_text()
FILES = {"": "tests/kips/test_kip_27.py", "interop": "interop/test_conditional.py"}
ROWS = [
    line.strip("|\n ").split(" | ") for line in PAGE.partition("## The KIP, ")[2].splitlines() if line.startswith("| ")
]
NAMED = re.compile(r"(?:(interop) |`(tests/[\w/]+\.py)` )?`(test_\w+)`")
HELD = sorted(
    {
        (FILES.get(found[1] or "", "") if not found[2] else found[2], found[3])
        for row in ROWS
        for found in NAMED.finditer(row[-1])
    }
)


@pytest.mark.parametrize("row", ROWS[1:], ids=lambda row: row[0][:40])
def test_every_row_names_what_holds_it(row: list[str]) -> None:
    assert NAMED.sub("", row[-1]).strip(", ") == ""
    assert NAMED.search(row[-1])


@pytest.mark.parametrize(("path", "name"), HELD, ids=[name for _, name in HELD])
def test_the_test_exists(path: str, name: str) -> None:
    assert re.search(rf"^ *def {name}\(", (HOUSE / path).read_text(), re.MULTILINE)


def test_the_table_was_found() -> None:
    assert len(ROWS) > 15
    assert len(HELD) > 25


def test_the_program_runs() -> None:
    [program] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(program, "conditional-publish.md", "exec"), {"__name__": "page"})
