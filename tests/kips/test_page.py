"""docs/leader-epochs.md is true: the tests that its rows name exist, its example gives the stated
result, and its verbs exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble
from tests.support.pages import cells, names_of_tests

HOUSE = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
PAGE = (HOUSE / "docs" / "leader-epochs.md").read_text()
ROWS = [line for line in PAGE.splitlines() if re.match(r"\| \d+ \|", line)]
NAMED = re.compile(r"`([\w/]+\.py)(?:::(\w+))?`")
KIPS = {"595": "test_kip_279.py"}
"""The KIPs whose tests are in the file of another KIP."""

OF_THE_NODE = ("test_leadership.py", "test_double_epochs.py")
"""The tests that need a whole node, and lie with the tests of its package."""


def named_in(row: str) -> list[tuple[Path, str]]:
    matches = NAMED.findall(cells(row)[-1])
    return [((HOUSE if "/" in path else HERE) / path, name) for path, name in matches]


def test_page_of_kips_has_rows_of_every_kip() -> None:
    assert {cells(row)[0] for row in ROWS} == {"101", "279", "320", "595", "951"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(cells(row)[:2])[:60])
def test_a_row_is_whole_and_names_tests_that_are_there(row: str) -> None:
    assert len(cells(row)) == 5
    assert all(cells(row))
    named = named_in(row)
    assert named
    for path, name in named:
        assert path.is_file()
        assert not name or name in names_of_tests(path), f"{path.name} has no {name}"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(cells(row)[:2])[:60])
def test_a_row_is_pinned_by_a_test_of_its_own_kip_or_of_the_node(row: str) -> None:
    kip = cells(row)[0]
    own = KIPS.get(kip, f"test_kip_{kip}.py")
    assert {path.name for path, _ in named_in(row)} & {own, *OF_THE_NODE}


def test_the_example_prints_what_the_page_shows() -> None:
    examples = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) == 1
    exec(compile(examples[0], "leader-epochs.md", "exec"), {"__name__": "page"})


def test_the_verbs_are_there() -> None:
    verbs = re.findall(r"^\| `kafka\.(\w+)\(", PAGE, re.MULTILINE)
    assert verbs == ["bump_epoch", "truncate", "leader_epoch", "epochs"]
    assert all(callable(getattr(KafkaDouble, verb)) for verb in verbs)
