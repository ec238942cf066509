"""Checks the mechanical part of how the project writes: `python -m checks.language`.

It reads Python files and Markdown, and reports

- prose (comments, docstrings, Markdown) over 100 columns, unless the line has no place to break at
  (a long URL, a heading, a table row);
- words for persons, and archaisms, in prose and in what the product prints or raises. A broker or a
  client is "it", or is named. Text in backticks is exempt;
- docstrings of functions that give an order (`moods.py`);
- names of tests that do not say what is tested (`test_names.py`).

`language_allowed.txt` lists phrases that may stand, each as `path: phrase`.
"""

from __future__ import annotations

import os
import re
import sys
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from . import moods, prose, test_names

ROOT = Path(__file__).resolve().parents[1]
ALLOWED = "checks/language_allowed.txt"
WIDTH = 100
PERSONS = "nobody|somebody|everybody|whoever|whom|he|his|him"
ARCHAISMS = "anew|hither|in vain|lest|nay|save for|shall|thereof|whence"
WORDS = re.compile(rf"\b(?:({PERSONS})|{ARCHAISMS})\b", re.IGNORECASE)
TESTS = ("tests/", "interop/", "benchmarks/")
"""Folders with tests, whose names are judged."""

QUOTING = (*TESTS, "checks/")
"""Folders whose texts quote what is wrong; only their prose is judged."""

NOT_OURS = frozenset({"build", "dist", "generated", "__pycache__"})
"""Folders that hold no prose of ours. The text of generated modules is that of the generator and
the specs."""

_QUOTED = re.compile(r"`[^`]*`")
_MARK = re.compile(r'\s*(?:[-*>#]|\d+\.|"""|\'\'\')?\s*')


class LanguageProblem(NamedTuple):
    """What is wrong in a line of a file; line 0 is the whole file."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}" if self.line else f"{self.path}: {self.text}"


def problems(path: str, source: str, allowed: Sequence[str] = ()) -> list[LanguageProblem]:
    """What breaks the rules in one file; `allowed` are the phrases that may stand in it."""
    if path.endswith(".md"):
        return _of_prose(path, list(prose.of_markdown(source)), allowed)
    found = [LanguageProblem(path, line, text) for line, text in (*_moods(source), *_names(path, source))]
    if not WORDS.search(source) and all(len(line) <= WIDTH for line in source.splitlines()):
        return found
    try:
        found += _of_prose(path, list(prose.of_python(source)), allowed)
        if not path.startswith(QUOTING):
            found += _words(path, list(prose.of_texts(source)), allowed)
    except (tokenize.TokenError, SyntaxError) as error:
        return [LanguageProblem(path, 0, f"not readable as Python: {error}")]
    return sorted(found)


def _of_prose(path: str, lines: list[prose.ProseLine], allowed: Sequence[str]) -> list[LanguageProblem]:
    return sorted([*_wide(path, lines), *_words(path, lines, allowed)])


def _moods(source: str) -> Iterator[tuple[int, str]]:
    for line, word in moods.imperatives(source):
        yield line, f"a docstring begins with {word!r}: write it in the third person, or name a thing"


def _names(path: str, source: str) -> Iterator[tuple[int, str]]:
    return test_names.problems(source) if path.startswith(TESTS) else iter(())


def _wide(path: str, lines: list[prose.ProseLine]) -> Iterator[LanguageProblem]:
    for line in lines:
        if len(line.whole) > WIDTH and _can_break(line.whole, path.endswith(".md")):
            yield LanguageProblem(path, line.number, f"prose of {len(line.whole)} columns, at most {WIDTH} are allowed")


def _can_break(line: str, markdown: bool) -> bool:
    """Whether there is a space to break at, behind the indentation and the mark of a list, a
    comment or a string."""
    if markdown and line.lstrip().startswith(("|", "#")):
        return False
    return " " in _MARK.sub("", line[: WIDTH + 1], count=1)


def _words(path: str, lines: list[prose.ProseLine], allowed: Sequence[str]) -> Iterator[LanguageProblem]:
    for line in lines:
        text = _QUOTED.sub("", line.prose)
        for phrase in allowed:
            text = text.replace(phrase, "")
        for match in WORDS.finditer(text):
            why = "is a word for a person: name the process, or write 'it'" if match[1] else "is an archaism"
            yield LanguageProblem(path, line.number, f"{match[0]!r} {why}")


def files(root: Path) -> Iterator[str]:
    """Every Python and Markdown file below a folder, sorted; no hidden folder, no link, nothing in
    NOT_OURS."""
    for folder, names, found in os.walk(root):
        names[:] = sorted(name for name in names if name not in NOT_OURS and not name.startswith("."))
        for name in sorted(found):
            path = Path(folder, name)
            if path.suffix in (".py", ".md") and not path.is_symlink():
                yield path.relative_to(root).as_posix()


def listed(root: Path, name: str) -> list[str]:
    """The lines of a list, without comments and empty ones."""
    lines = (root / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def allowed_phrases(lines: Sequence[str]) -> dict[str, list[str]]:
    """The phrases of the allow-list by path."""
    found: dict[str, list[str]] = {}
    for line in lines:
        path, _, phrase = line.partition(": ")
        found.setdefault(path, []).append(phrase)
    return found


def check(root: Path, allowed: Mapping[str, Sequence[str]]) -> list[LanguageProblem]:
    """What breaks the rules, and the allowed phrases that are not needed."""
    sources = {path: (root / path).read_text(encoding="utf-8") for path in files(root)}
    found = [problem for path, text in sources.items() for problem in problems(path, text, allowed.get(path, ()))]
    for path, phrases in allowed.items():
        unused = (phrase for phrase in phrases if phrase not in sources.get(path, ""))
        found += (LanguageProblem(ALLOWED, 0, f"{path} has no {phrase!r}: remove the line") for phrase in unused)
    return found


def main(root: Path = ROOT) -> int:
    found = check(root, allowed_phrases(listed(root, ALLOWED)))
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
