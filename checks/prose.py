"""Finds the prose of a file: comments and docstrings in Python, everything but code blocks in
Markdown; and the texts of a Python file, which it prints or raises."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

_FOR_TOOLS = re.compile(r"#\s*(?:type:|noqa|fmt:|pragma:)")
_BEFORE_A_STATEMENT = frozenset(
    {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.COMMENT}
)
_FENCES = ("```", "~~~")


class ProseLine(NamedTuple):
    """One line of prose: its number in the file, its prose, and the whole line of the file."""

    number: int
    prose: str
    whole: str


def of_python(source: str) -> Iterator[ProseLine]:
    """The lines of comments, and of strings that are statements: docstrings of modules, classes,
    functions, constants.

    Comments for tools (`# type:`, `# noqa`, `# fmt:`, `# pragma:`) are no prose.
    """
    lines = source.splitlines()
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    before = tokenize.ENCODING
    for token, after in pairwise(tokens):
        number = token.start[0]
        if token.type == tokenize.COMMENT and not _FOR_TOOLS.match(token.string):
            yield ProseLine(number, token.string, lines[number - 1])
        elif token.type == tokenize.STRING and before in _BEFORE_A_STATEMENT and after.type == tokenize.NEWLINE:
            for index, prose in enumerate(token.string.splitlines(), number):
                yield ProseLine(index, prose, lines[index - 1])
        before = token.type


def of_markdown(source: str) -> Iterator[ProseLine]:
    """The lines outside of code blocks."""
    fence = ""
    for number, line in enumerate(source.splitlines(), 1):
        mark = line.strip()[:3]
        if fence:
            fence = "" if mark == fence else fence
        elif mark in _FENCES:
            fence = mark
        else:
            yield ProseLine(number, line, line)


def of_texts(source: str) -> Iterator[ProseLine]:
    """The strings of more than one word that are no docstrings, also those inside of f-strings."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in docstrings:
            continue
        if " " in node.value.strip():
            yield ProseLine(node.lineno, node.value, node.value)
