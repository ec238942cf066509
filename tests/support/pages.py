"""The Markdown pages of the project, and the fenced code blocks in them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


class Block(NamedTuple):
    """A fenced code block. `line` is the line of its fence, from 1; `title` names a file, or is
    empty."""

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


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


@cache
def names_of_tests(path: Path) -> frozenset[str]:
    functions = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef))
    return frozenset(each.name for each in functions if each.name.startswith("test_"))


def run_suite(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Runs pytest in a process of its own, with no plugin but ours, which is half of the time.

    A suite inside of this process would leave modules behind that other tests then meet twice.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        return pytester.runpytest_subprocess("-p", "kafkadouble.pytest_plugin", *arguments)
