"""docs/security.md: its examples run."""

from __future__ import annotations

from typing import Any

from tests.docs.pages import DOCS, blocks


def test_the_examples_run() -> None:
    names: dict[str, Any] = {"__name__": "page"}
    for example in blocks((DOCS / "security.md").read_text(), "python"):
        exec(compile("\n" * example.line + example.text, "security.md", "exec"), names)
