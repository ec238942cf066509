"""docs/security.md: its examples run, in its order, with the asserts that they have."""

from __future__ import annotations

from typing import Any

from tests.docs.pages import DOCS, blocks


def test_the_examples_run() -> None:
    names: dict[str, Any] = {"__name__": "page"}
    examples = list(blocks((DOCS / "security.md").read_text(), "python"))
    assert any("assert " in example.text for example in examples)
    for example in examples:
        exec(compile("\n" * example.line + example.text, "security.md", "exec"), names)
