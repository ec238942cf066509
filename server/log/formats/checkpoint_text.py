"""Kafka's checkpoint files: a line with the version (0), a line with the count, then a line for
each entry.

Words are separated by blanks. A file without a line, or with the version alone, has no entries:
Kafka writes some of them empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from .errors import BadFile

VERSION = 0
_WORD = re.compile(r"\S+", re.ASCII)
_INTEGER = re.compile(r"-?[0-9]{1,19}\Z")


class Word(NamedTuple):
    """A word, and the position of its first byte."""

    text: str
    at: int


Line = tuple[Word, ...]


def read_lines(data: bytes, file: str, words: int) -> list[Line]:
    """The entries, of `words` words each. BadFile for another version, a wrong count, or a line
    with another number of words."""
    lines = _lines(data, file)
    if not lines:
        return []
    version = _only_number(lines[0], file, "version")
    if version != VERSION:
        raise BadFile(f"version {version} is not {VERSION}", file=file, offset=lines[0][0].at)
    if len(lines) == 1:
        return []
    count = _only_number(lines[1], file, "count")
    for line in lines[2:]:
        if len(line) != words or not all(word.text for word in line):
            raise BadFile(f"a line of other than {words} words", file=file, offset=line[0].at)
    if count != len(lines) - 2:
        raise BadFile(f"{count} entries announced, {len(lines) - 2} found", file=file, offset=lines[1][0].at)
    return lines[2:]


def number(word: Word, low: int, high: int, file: str, what: str) -> int:
    """The word as a number from `low` to `high`. `what` names it in the message of BadFile."""
    if _INTEGER.match(word.text) is None or not low <= int(word.text) <= high:
        raise BadFile(f"{what} {word.text!r}", file=file, offset=word.at)
    return int(word.text)


def write_lines(entries: Iterable[str]) -> bytes:
    """A whole file with these lines as entries."""
    lines = list(entries)
    return "".join(f"{line}\n" for line in (VERSION, len(lines), *lines)).encode()


def text_of(data: bytes, file: str) -> str:
    """The bytes as text. BadFile when they are not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise BadFile("this is not UTF-8", file=file, offset=error.start) from None


def _only_number(line: Line, file: str, what: str) -> int:
    if len(line) != 1:
        raise BadFile(f"a line of {len(line)} words instead of the {what}", file=file, offset=line[0].at)
    return number(line[0], 0, 2**31 - 1, file, what)


def _lines(data: bytes, file: str) -> list[Line]:
    """The lines as words. A line that is empty or begins with a blank gets an empty first word,
    which the callers refuse, as Kafka does."""
    text_of(data, file)
    found, at = [], 0
    for line in data.splitlines(keepends=True):
        text = line.decode()
        words = tuple(Word(each[0], at + len(text[: each.start()].encode())) for each in _WORD.finditer(text))
        found.append(words if text[:1].strip() else (Word("", at), *words))
        at += len(line)
    return found
