"""The pages of `interop/generated_pages.py` are as `make generate` makes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from interop.generated_pages import PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_generate_leaves_the_page_as_it_is(page: Path) -> None:
    assert page.read_text() == PAGES[page](), "run: make generate"
