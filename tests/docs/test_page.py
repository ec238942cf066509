"""docs/page.md: its pictures are there, and its keys are those of the page."""

from __future__ import annotations

import re
from importlib.resources import files

from tests.support.pages import DOCS

PAGE = (DOCS / "page.md").read_text()


def test_page_pictures_exist() -> None:
    names = re.findall(r"\(images/([^)]+)\)", PAGE)
    assert len(names) == 6
    for name in names:
        assert (DOCS / "images" / name).read_bytes().startswith(b"\x89PNG")


def test_the_keys_are_those_of_the_page() -> None:
    script = files("kafkadouble.control").joinpath("page", "main.js").read_text()
    (table,) = re.findall(r"const KEYS = \{(.*?)\n\};", script, re.DOTALL)
    keys = set(re.findall(r"(?:^|, |\{ |\n  )\"?(/|j|k|ArrowDown|ArrowUp|Home|End| |h|Escape|\?)\"?: \(\) =>", table))
    assert keys == {"/", "j", "k", "ArrowDown", "ArrowUp", "Home", "End", " ", "h", "Escape", "?"}
