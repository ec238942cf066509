"""Every link in a Markdown file leads somewhere, and a link that does not is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs import links
from tests.support.pages import DOCS, ROOT


def test_the_files_are_found() -> None:
    files = links.files()
    assert {ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "CONTRIBUTING.md"} < set(files)
    assert set(DOCS.glob("*.md")) < set(files)


def test_every_link_leads_somewhere() -> None:
    assert [problem for path in links.files() for problem in links.problems(path)] == []


def test_a_page_of_the_site_links_only_into_docs_or_to_whole_addresses() -> None:
    assert [path.name for path in DOCS.glob("*.md") if "](../" in path.read_text()] == []


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(links, "ROOT", tmp_path)
    (tmp_path / "other.md").write_text("# A heading: `code`, and more\n\n## Twice\n\n## Twice\n\n```\n# none\n```\n")
    return tmp_path / "page.md"


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("other.md", None),
        ("other.md#a-heading-code-and-more", None),
        ("other.md#twice-1", None),
        ("#own", None),
        ("https://example.org/none", None),
        ("https://github.com/kafkadouble/kafkadouble/blob/main/other.md", None),
        ("none.md", "there is no such file"),
        ("other.md#none", "there is no such heading"),
        ("#none", "there is no such heading"),
        ("https://github.com/kafkadouble/kafkadouble/blob/main/none.md", "there is no such file"),
        (
            "https://github.com/kafkadouble/kafkadouble/tree/main/other.md",
            "a folder is at tree/main, and a file at blob/main",
        ),
    ],
)
def test_a_broken_link_is_reported(page: Path, link: str, problem: str | None) -> None:
    page.write_text(f"# Own\n\nSee [this]({link}), and `[not](code.md)`.\n\n```\n[nor](this.md)\n```\n")
    assert list(links.problems(page)) == ([f"page.md: {link}: {problem}"] if problem else [])
