"""Every generated page and table is as `make generate` makes it."""

from __future__ import annotations

import re

import pytest

from tests.docs.generate import PAGES, TABLES, Table, generated, with_rows
from tests.support.pages import DOCS, ROOT

OF_INTEROP = ("clients.md", "divergence.md")
"""What `interop/generated_pages.py` makes."""


def test_generated_pages_are_up_to_date() -> None:
    assert [path for path, text in generated().items() if path.read_text() != text] == [], "run: make generate"


def test_every_page_marked_as_generated_is_generated_here() -> None:
    made = {
        path.name for path in DOCS.glob("*.md") if re.search(r"^Made by .*do not edit", path.read_text(), re.MULTILINE)
    }
    assert made == {*PAGES, *OF_INTEROP}


def test_make_generate_makes_all_generated_pages() -> None:
    verb = re.search(r"^generate:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert verb
    assert "python -m codegen\n" in verb[1]
    assert "python -m tests.docs.generate\n" in verb[1]
    assert "python -m interop.generated_pages\n" in verb[1]


def test_the_rows_below_a_head_are_replaced() -> None:
    page = "a\n\n| x |\n|---|\n| old |\n| older |\n\nb\n| y |\n"
    assert with_rows(page, Table("p", "| x |", lambda: ["| new |"])) == "a\n\n| x |\n|---|\n| new |\n\nb\n| y |\n"
    with pytest.raises(ValueError, match="no table"):
        with_rows(page, Table("p", "| z |", list))


def test_a_table_is_named_once() -> None:
    for table in TABLES:
        assert (DOCS / table.page).read_text().count(f"\n{table.head}\n") == 1
