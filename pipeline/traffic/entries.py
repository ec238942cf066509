"""The entries of a log of requests: lines of text in, JSON objects out, with what stood around them.

Rules. An entry is an object in one line, behind whatever the logger puts in front of it, or one that goes on until a line that begins with its
closing brace, as pretty printers write it; a log that is JSON itself has it in `message`. Other lines of a log are passed over. A line that
should be an entry and is none is a problem, never an error; no line makes memory grow beyond MOST characters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

KAFKA = "Completed request:"
"""What Kafka writes in front of the object."""

HEADER = re.compile(r'\{\s*"header"\s*:\s*\{')
MOST = 64 << 20

Tell = Callable[[int, str], None]
"""Told of a problem: the line, and what is wrong with it."""

_decode = json.JSONDecoder().raw_decode


class LogEntry(NamedTuple):
    """`line` is where it begins; `around` what stands before and behind it, or the object of the log that it was in."""

    line: int
    found: dict[str, Any]
    around: str
    fields: dict[str, Any]


class _Lines:
    """Numbered lines, of which the last one can be put back."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines, self._back = enumerate(lines, 1), list[tuple[int, str]]()

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return self

    def __next__(self) -> tuple[int, str]:
        return self._back.pop() if self._back else next(self._lines)

    def put_back(self, line: tuple[int, str]) -> None:
        self._back.append(line)


def entries(lines: Iterable[str], tell: Tell) -> Iterator[LogEntry | None]:
    """The entries in their order; None for a line that has nothing to do with one."""
    numbered = _Lines(lines)
    for number, line in numbered:
        is_json_log = line.startswith("{") and not HEADER.match(line) and line.rstrip() != "{"
        start = None if is_json_log else _place_in(line)
        if start is not None:
            yield from _read(number, line, start, {}, tell)
        elif is_json_log:
            yield from _of_json_log(number, line, tell)
        elif line.rstrip().endswith("{"):
            yield from _over_lines(number, line, numbered, tell)
        else:
            yield None


def _place_in(text: str) -> int | None:
    """Where an entry begins in a text that has one."""
    if (at := text.find(KAFKA)) >= 0:
        return at + len(KAFKA)
    found = HEADER.search(text)
    return None if found is None else found.start()


def _read(number: int, text: str, start: int, fields: dict[str, Any], tell: Tell) -> Iterator[LogEntry]:
    try:
        found, end = _decode(text, start)
    except (ValueError, RecursionError) as problem:
        tell(number, f"an entry that is no JSON: {problem}")
        return
    if isinstance(found, dict):
        yield LogEntry(number, found, f"{text[:start]} {text[end:].strip()}", fields)
    else:
        tell(number, "an entry that is no JSON object")


def _over_lines(number: int, line: str, numbered: _Lines, tell: Tell) -> Iterator[LogEntry | None]:
    """An object that goes on. One whose second line is not that of an entry is none, as other things log objects, too."""
    held, size = [line], len(line)
    for at, more in numbered:
        if len(held) == 1 and not more.lstrip().startswith('"header"'):
            numbered.put_back((at, more))
            yield None
            return
        held.append(more)
        size += len(more)
        if more.startswith("}"):
            yield from _read(number, "".join(held), len(line.rstrip()) - 1, {}, tell)
            return
        if size > MOST:
            tell(number, f"an entry of more than {MOST} characters")
            return
    if len(held) > 1:
        tell(number, "the log ends inside an entry")


def _of_json_log(number: int, line: str, tell: Tell) -> Iterator[LogEntry | None]:
    """What a log that is JSON has in `message`."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as problem:
        tell(number, f"a line that is no JSON: {problem}")
        return
    message = found.get("message") if isinstance(found, dict) else None
    if isinstance(message, str) and (start := _place_in(message)) is not None:
        yield from _read(number, message, start, found, tell)
    else:
        yield None
