"""docs/client-library.md: its examples run, in its order; the rules that it names exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kafkadouble import KafkaDouble
from tests.support.pages import DOCS, blocks

PAGE = (DOCS / "client-library.md").read_text()


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    try:
        for example in blocks(PAGE, "python"):
            exec(compile("\n" * example.line + example.text, "client-library.md", "exec"), names)
    finally:
        names["kafka"].stop()


def test_the_rules_that_it_names_are_verbs() -> None:
    (table,) = re.findall(r"^## Break frames and connections\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)
    verbs = re.findall(r"\[`(\w+)", table)
    assert len(verbs) >= 10
    assert all(callable(getattr(KafkaDouble, verb)) for verb in verbs)
