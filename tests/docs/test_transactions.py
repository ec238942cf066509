"""docs/transactions.md: its examples run, in its order."""

from __future__ import annotations

from typing import Any

from tests.support.pages import DOCS, blocks


def test_the_examples_run() -> None:
    names: dict[str, Any] = {"__name__": "page"}
    try:
        for example in blocks((DOCS / "transactions.md").read_text(), "python"):
            exec(compile("\n" * example.line + example.text, "transactions.md", "exec"), names)
    finally:
        names["kafka"].stop()
