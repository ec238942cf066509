"""The Markdown pages of the project, and the fenced code blocks in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


class Block(NamedTuple):
    """A fenced code block. `line` is the line of its fence, from 1; `title` names a file, or is empty."""

    language: str
    title: str
    line: int
    text: str


_FENCE = re.compile(
    r"^```(?P<language>\w*)(?: title=\"(?P<title>[^\"]+)\")?$(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


def blocks(page: str, language: str | None = None) -> Iterator[Block]:
    """The fenced blocks of a page, in order; those of one language, if one is named."""
    for match in _FENCE.finditer(page):
        if language in (None, match["language"]):
            line = page.count("\n", 0, match.start()) + 1
            yield Block(match["language"], match["title"] or "", line, match["text"].removeprefix("\n"))
