"""What programs import stays: the paths of docs/import-paths.md, and the signatures behind them.

`make generate` writes `public_api.txt`. A line that changes or goes away breaks programs.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support import public_api

PAGES = [*sorted((public_api.ROOT / "docs").glob("*.md")), public_api.ROOT / "README.md"]
IMPORT = re.compile(r"^ *(?:from (kafkadouble[\w.]*) import|import (kafkadouble[\w.]*))", re.MULTILINE)


@pytest.mark.parametrize("path", public_api.paths())
def test_a_listed_path_is_there(path: str) -> None:
    assert find_spec(path) is not None


def test_every_path_that_a_page_shows_is_listed() -> None:
    listed = public_api.paths()
    shown = {
        (page.name, first or second)
        for page in PAGES
        if page.name != "house.md"
        for first, second in IMPORT.findall(page.read_text("utf-8"))
    }
    assert not {
        (page, path)
        for page, path in shown
        if not any(f"{path}.".startswith(f"{each}.") for each in listed[1:]) and path != "kafkadouble"
    }
    assert len(shown) > 20


def test_public_api_has_the_committed_signatures() -> None:
    written = Path(__file__).with_name("public_api.txt").read_text("utf-8")
    assert public_api.as_text() == written
