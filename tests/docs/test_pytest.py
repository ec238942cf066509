"""docs/pytest.md: its examples are tests that pass."""

from __future__ import annotations

import pytest

from tests.support.pages import DOCS, Block, blocks, run_suite

pytest_plugins = ("pytester",)

EXAMPLES = list(blocks((DOCS / "pytest.md").read_text(), "python"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"line-{example.line}")
def test_example_passes(pytester: pytest.Pytester, example: Block) -> None:
    pytester.makepyfile(example.text)
    run_suite(pytester).assert_outcomes(passed=example.text.count("def test_"))
