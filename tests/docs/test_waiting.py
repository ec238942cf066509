"""docs/waiting.md: its examples run, in its order, and it lists every verb that waits."""

from __future__ import annotations

import re
from typing import Any

from kafkadouble.verbs.content import waiting
from tests.support.pages import DOCS, blocks

PAGE = (DOCS / "waiting.md").read_text()


def test_the_examples_run() -> None:
    names: dict[str, Any] = {"__name__": "page"}
    try:
        for example in blocks(PAGE, "python"):
            exec(compile("\n" * example.line + example.text, "waiting.md", "exec"), names)
    finally:
        names["kafka"].stop()


def test_every_verb_is_listed() -> None:
    listed = re.findall(r"^\| `kafka\.(\w+)\(", PAGE, re.MULTILINE)
    assert listed == [name for name in vars(waiting) if name.startswith("wait_")]
