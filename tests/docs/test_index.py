"""docs/index.md lists every page once, by kind, and the site has the same pages in the same
order."""

from __future__ import annotations

import re
from typing import Any

import yaml

from tests.support.pages import DOCS, ROOT

INDEX = (DOCS / "index.md").read_text()
KINDS = ["Tutorial", "How-to guides", "Reference", "Explanation"]


def listed() -> dict[str, list[str]]:
    """The pages of each section."""
    sections = re.split(r"^## (.+)$", INDEX, flags=re.MULTILINE)[1:]
    return {
        name: re.findall(r"^- \[[^]]+\]\(([\w-]+\.md)\)", text, re.MULTILINE)
        for name, text in zip(sections[::2], sections[1::2], strict=True)
    }


def test_index_page_has_a_section_for_each_kind() -> None:
    assert list(listed()) == KINDS


def test_every_page_is_listed_once() -> None:
    pages = [page for of_kind in listed().values() for page in of_kind]
    assert sorted(pages) == sorted(path.name for path in DOCS.glob("*.md") if path.name != "index.md")
    assert len(re.findall(r"\]\([\w-]+\.md", INDEX)) == len(pages)


def test_the_site_has_the_same_pages() -> None:
    nav: list[Any] = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    assert nav[0] == "index.md"
    assert {name: pages for section in nav[1:] for name, pages in section.items()} == listed()


def test_the_readme_leads_to_the_index() -> None:
    assert "/blob/main/docs/index.md" in (ROOT / "README.md").read_text()
