"""docs/recipes.md: its table has each recipe once, names verbs that exist, and leads to the section
of each situation. `tests/examples/test_recipes.py` runs the examples, and
`interop/tools/test_connect.py` the settings."""

from __future__ import annotations

import re

import pytest

from kafkadouble import KafkaDouble
from tests.docs.links import anchors
from tests.support.pages import DOCS, ROOT

PAGE = (DOCS / "recipes.md").read_text()
ROWS = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.startswith("| [")]


def test_each_recipe_has_a_row() -> None:
    linked = re.findall(r"blob/main/(examples/recipes/test_\w+\.py)", PAGE)
    assert sorted(linked) == sorted(
        path.relative_to(ROOT).as_posix() for path in (ROOT / "examples" / "recipes").glob("test_*.py")
    )


def test_each_section_has_a_row() -> None:
    linked = [re.findall(r"\]\(#([\w-]+)\)", row[0]) for row in ROWS]
    assert sorted(anchor for (anchor,) in linked) == sorted(anchors(PAGE) - {"recipes-by-situation"})


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_verbs_of_a_row_exist(row: list[str]) -> None:
    verbs = re.findall(r"`([a-z_]+)\b", row[2])
    assert verbs
    assert [verb for verb in verbs if not hasattr(KafkaDouble, verb)] == []
