"""Counts the hand-written lines: `python -m checks.lines [FOLDER]`.

Lines of Python, JavaScript, Go and Java, and of scripts in `.txt`, that git tracks in a checkout;
generated files do not count. Statements of Python are beside them: a longer line is no fewer lines.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .imports import ROOT

PRODUCT = ("wire", "messages", "server", "pipeline", "src", "codegen")
SUFFIXES = (".py", ".js", ".mjs", ".go", ".java", ".txt")
SCRIPTS = ("tests", "interop")
"""Where a `.txt` is a script."""

GENERATED = "linguist-generated"


class Count(NamedTuple):
    """Lines, and statements of Python."""

    lines: int = 0
    statements: int = 0

    def plus(self, other: Count) -> Count:
        """Both together."""
        return Count(self.lines + other.lines, self.statements + other.statements)


def area_of(path: str) -> str:
    """`product`, or the folder at the top."""
    top = path.partition("/")[0]
    return "product" if top in PRODUCT else top if "/" in path else "the root"


def counted(root: Path = ROOT) -> dict[str, Count]:
    """The counts by area."""
    counts: dict[str, Count] = {}
    for path in hand_written(root):
        area = area_of(path)
        counts[area] = counts.get(area, Count()).plus(count_of(root / path))
    return dict(sorted(counts.items()))


def hand_written(root: Path) -> Iterator[str]:
    """The paths of the files that count."""
    tracked = _git(root, "ls-files").splitlines()
    generated = _generated(root, tracked)
    for path in tracked:
        is_source = path.endswith(SUFFIXES) and (not path.endswith(".txt") or path.startswith(SCRIPTS))
        if is_source and path not in generated and not (root / path).is_symlink() and (root / path).is_file():
            yield path


def _generated(root: Path, tracked: list[str]) -> set[str]:
    """Those that `.gitattributes` marks."""
    said = _git(root, "check-attr", "--stdin", GENERATED, given="\n".join(tracked))
    lines = (line.rsplit(": ", 2) for line in said.splitlines())
    return {path for path, _, value in lines if value == "true"}


def _git(root: Path, *words: str, given: str = "") -> str:
    return subprocess.run(["git", *words], cwd=root, input=given, capture_output=True, text=True, check=True).stdout


def count_of(file: Path) -> Count:
    """The count of one file."""
    text = file.read_text("utf-8")
    statements = 0
    if file.suffix == ".py":
        statements = sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(text)))
    return Count(len(text.splitlines()), statements)


def main(words: list[str]) -> int:
    found = counted(Path(words[0]) if words else ROOT)
    for area, count in found.items():
        print(f"{count.lines:8,d} lines  {count.statements:8,d} statements  {area}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
