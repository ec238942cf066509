"""docs/waiting.md lists every verb that waits."""

from __future__ import annotations

import re

from kafkadouble.verbs.content import waiting
from tests.support.pages import DOCS

PAGE = (DOCS / "waiting.md").read_text()


def test_every_verb_is_listed() -> None:
    listed = re.findall(r"^\| `kafka\.(\w+)\(", PAGE, re.MULTILINE)
    assert listed == [name for name in vars(waiting) if name.startswith("wait_")]
