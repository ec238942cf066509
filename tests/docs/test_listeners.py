"""docs/listeners.md: its examples run, in its order."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.pages import DOCS, blocks


def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    for example in blocks((DOCS / "listeners.md").read_text(), "python"):
        exec(compile("\n" * example.line + example.text, "listeners.md", "exec"), names)
    internal, external, second = capsys.readouterr().out.splitlines()
    assert second == external.split(",")[1]
    assert len(internal.split(",")) == 3
    assert not set(internal.split(",")) & set(external.split(","))
