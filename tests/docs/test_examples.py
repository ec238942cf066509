"""The examples of pages run: each alone, or in the order of the page if they need each other."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.pages import DOCS, Block, blocks

pytest.importorskip("confluent_kafka")
pytest.importorskip("opentelemetry.proto")


def examples_of(page: str) -> list[Block]:
    return list(blocks((DOCS / page).read_text(), "python"))


def run(page: str, example: Block, names: dict[str, Any]) -> None:
    exec(compile("\n" * example.line + example.text, page, "exec"), names)


ALONE = ("clusters.md", "page.md", "quotas.md", "telemetry.md")
EXAMPLES = [(page, example) for page in ALONE for example in examples_of(page)]


@pytest.mark.parametrize(("page", "example"), EXAMPLES, ids=[f"{page}-{example.line}" for page, example in EXAMPLES])
def test_example_of_a_page_runs_alone(page: str, example: Block) -> None:
    run(page, example, {"__name__": "page"})


@pytest.mark.parametrize("page", ["groups.md", "transactions.md", "waiting.md"])
def test_examples_of_a_page_run_in_order(page: str) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    try:
        for example in examples_of(page):
            run(page, example, names)
    finally:
        names["kafka"].stop()
