"""Counts vague names: `python -m checks.naming [FOLDER]`.

Of all names in Python files (variables, parameters, attributes, each time that they occur), the
share that says nothing about what it holds; and the tests whose names do not say what is tested
(`test_names.py`).
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from . import language, test_names
from .imports import ROOT

VAGUE = ("each", "found", "given", "place")


def names(tree: ast.AST) -> Iterator[str]:
    """The names in a file, each time that they occur."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Attribute):
            yield ""


def main(words: list[str]) -> int:
    root = Path(words[0]) if words else ROOT
    seen: Counter[str] = Counter()
    unclear = 0
    for path in language.files(root):
        if path.endswith(".py"):
            source = (root / path).read_text("utf-8")
            seen.update(names(ast.parse(source)))
            unclear += sum(1 for _ in test_names.problems(source)) if path.startswith(language.TESTS) else 0
    vague = {name: seen[name] for name in VAGUE}
    print(f"{seen.total():8,d} names, {sum(vague.values()) / seen.total():.2%} of them vague: {vague}")
    print(f"{unclear:8,d} names of tests do not say what is tested")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
