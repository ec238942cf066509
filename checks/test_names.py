"""Judges the names of tests: `problems` finds those that do not say what is tested.

A name says API, condition and result: `fetch_snapshot_of_unknown_partition_is_refused`. So it does
not begin with a word that only points elsewhere ("what", "it", "one"), and it holds a noun of Kafka
or of this project; these stand in `domain_nouns.txt`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

NOUNS = Path(__file__).with_name("domain_nouns.txt")
POINTING = re.compile(
    "everything|he|his|how|its?|neither|nothing|one|others|so|some|something|that|their|there|these|they|this"
    "|those|what|whatever|when|where|whether|which|whichever|who|whoever|whose|why"
)
"""Words that a name does not begin with."""

_TEST = re.compile(r"^[ \t]*(?:async )?def test_(\w+)\(", re.MULTILINE)


def problems(source: str) -> Iterator[tuple[int, str]]:
    """The line of each test whose name is not clear, and what is wrong with it."""
    if not any(map(problem, _TEST.findall(source))):
        return
    for node in ast.walk(ast.parse(source)):  # a text of a test may hold tests of its own
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not node.name.startswith("test_"):
            continue
        if text := problem(node.name.removeprefix("test_")):
            yield node.lineno, text


def problem(name: str) -> str:
    """What is wrong with the name of a test; empty if nothing is."""
    words = name.split("_")
    if POINTING.fullmatch(words[0]):
        return f"the name of a test begins with {words[0]!r}: begin with the API or the thing that is tested"
    if not any(form in _nouns() for word in words for form in _singular(word)):
        return f"{name!r} holds no noun of {NOUNS.name}: name the API, the condition and the result"
    return ""


def _singular(word: str) -> Iterator[str]:
    yield word
    for ending, other in (("s", ""), ("es", ""), ("ies", "y")):
        if word.endswith(ending):
            yield word.removesuffix(ending) + other


@cache
def _nouns() -> frozenset[str]:
    lines = NOUNS.read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())
