"""docs/security.md: its examples run, in its order, and its settings are those that have an
effect."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kafkadouble.server.configs.broker import BROKER
from kafkadouble.server.configs.without_effect import WITHOUT_EFFECT
from tests.support.pages import DOCS, blocks

PAGE = (DOCS / "security.md").read_text()


def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    examples = list(blocks(PAGE, "python"))
    assert any("assert " in example.text for example in examples)
    for example in examples:
        exec(compile("\n" * example.line + example.text, "security.md", "exec"), names)
    assert capsys.readouterr().out.splitlines() == ["0", "0", "True"]


def test_every_setting_with_an_effect_is_on_the_page() -> None:
    effective = {each.name for each in BROKER if each.name.startswith("ssl.")} - WITHOUT_EFFECT
    table = PAGE[PAGE.index("### Settings") : PAGE.index("### When")]
    named = set(re.findall(r"`(ssl\.[a-z.]+)`", table))
    named |= {f"ssl.{store}.{suffix}" for store in ("keystore", "truststore") for suffix in ("type", "password")}
    assert effective <= named
    assert named <= effective
