"""docs/pytest.md: its examples are tests that pass."""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401  # see tests/test_readme.py

import pytest

from tests.docs.pages import DOCS, Block, blocks

pytest_plugins = ("pytester",)
pytestmark = pytest.mark.usefixtures("broker_imported")

EXAMPLES = list(blocks((DOCS / "pytest.md").read_text(), "python"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"line-{example.line}")
def test_example_passes(pytester: pytest.Pytester, example: Block) -> None:
    pytester.makepyfile(example.text)
    pytester.runpytest_inprocess("-p", "no:randomly").assert_outcomes(passed=1)
