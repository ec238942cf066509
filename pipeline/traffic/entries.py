"""Finds the entries of a request log: reads lines of text, and returns JSON objects with the text
before and after each.

Rules. An entry is a JSON object after the prefix of the logger. It has one line, or several lines
of which the last begins with the closing brace. In a JSON log, the entry is in the field `message`.
Other lines are skipped. A broken entry is reported as a problem, and reading goes on. Memory is
limited to MOST characters per line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

KAFKA = "Completed request:"
"""The text that Kafka writes before the object."""

HEADER = re.compile(r'\{\s*"header"\s*:\s*\{')
MOST = 16 << 20
"""The largest entry in characters: decoded JSON takes up to twenty times as much memory."""


ProblemCallback = Callable[[int, str], None]
"""Receives a problem: the line number, and the text."""

_decode = json.JSONDecoder().raw_decode


class LogEntry(NamedTuple):
    """One entry. `line` is the number of its first line, `object` the decoded JSON, `around` the
    text before and after it, `fields` the object of a JSON log (or empty), `size` its length in
    characters."""

    line: int
    object: dict[str, Any]
    around: str
    fields: dict[str, Any]
    size: int = 0


class _Lines:
    """Numbered lines; the last one can be put back."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines, self._back = enumerate(lines, 1), list[tuple[int, str]]()

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return self

    def __next__(self) -> tuple[int, str]:
        return self._back.pop() if self._back else next(self._lines)

    def put_back(self, line: tuple[int, str]) -> None:
        self._back.append(line)


def entries(lines: Iterable[str], report: ProblemCallback) -> Iterator[LogEntry | None]:
    """The entries in order; None for a line that does not belong to an entry."""
    numbered = _Lines(lines)
    for number, line in numbered:
        is_json_log = line.startswith("{") and not HEADER.match(line) and line.rstrip() != "{"
        start = None if is_json_log else _start_in(line)
        if start is not None:
            yield from _read(number, line, start, {}, report)
        elif is_json_log:
            yield from _of_json_log(number, line, report)
        elif line.rstrip().endswith("{"):
            yield from _of_several_lines(number, line, numbered, report)
        else:
            yield None


def _start_in(text: str) -> int | None:
    """The position of an entry in a text, or None."""
    if (at := text.find(KAFKA)) >= 0:
        return at + len(KAFKA)
    match = HEADER.search(text)
    return None if match is None else match.start()


def _read(number: int, text: str, start: int, fields: dict[str, Any], report: ProblemCallback) -> Iterator[LogEntry]:
    try:
        decoded, end = _decode(text, start)
    except (ValueError, RecursionError) as problem:
        report(number, f"an entry that is no JSON: {problem}")
        return
    if isinstance(decoded, dict):
        yield LogEntry(number, decoded, f"{text[:start]} {text[end:].strip()}", fields, len(text))
    else:
        report(number, "an entry that is no JSON object")


def _of_several_lines(number: int, line: str, numbered: _Lines, report: ProblemCallback) -> Iterator[LogEntry | None]:
    """An object over several lines. Its second line must begin with "header", because other code
    logs objects, too."""
    held, size = [line], len(line)
    for at, more in numbered:
        if len(held) == 1 and not more.lstrip().startswith('"header"'):
            numbered.put_back((at, more))
            yield None
            return
        held.append(more)
        size += len(more)
        if more.startswith("}"):
            yield from _read(number, "".join(held), len(line.rstrip()) - 1, {}, report)
            return
        if size > MOST:
            report(number, f"an entry of more than {MOST} characters")
            return
    if len(held) > 1:
        report(number, "the log ends inside an entry")


def _of_json_log(number: int, line: str, report: ProblemCallback) -> Iterator[LogEntry | None]:
    """The `message` of a line of a JSON log."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as problem:
        report(number, f"a line that is no JSON: {problem}")
        return
    message = fields.get("message") if isinstance(fields, dict) else None
    if isinstance(message, str) and (start := _start_in(message)) is not None:
        yield from _read(number, message, start, fields, report)
    else:
        yield None
