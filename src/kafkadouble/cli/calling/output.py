"""The result of a verb for a person: a table for lists and mappings of objects, lines for other
lists, and the plain value otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kafkadouble.wire.client_log import printable

WIDEST = 60
"""A cell is cut to so many characters; --json shows everything."""

LEFT_OUT = ("request", "answer")
"""Fields that a table does not have: the contents of requests."""


def lines(result: Any) -> Iterator[str]:
    """The lines of the result; none for null."""
    if isinstance(result, Mapping):
        yield from _of_mapping(result)
    elif isinstance(result, list):
        yield from _of_list(result)
    elif result is not None:
        yield printable(str(result))


def _of_mapping(result: Mapping[str, Any]) -> Iterator[str]:
    values = list(result.values())
    if values and all(isinstance(value, Mapping) for value in values):
        rows = [{"": name, **each} for name, each in result.items()]
        yield from _table(rows)
    else:
        yield from _aligned([[_cell(name), _cell(value)] for name, value in result.items()])


def _of_list(result: Sequence[Any]) -> Iterator[str]:
    if result and all(isinstance(each, Mapping) for each in result):
        yield from _table(result)
    else:
        yield from (_cell(each) for each in result)


def _table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    names = [name for name in dict.fromkeys(name for row in rows for name in row) if name not in LEFT_OUT]
    yield from _aligned([names, *([_cell(row.get(name)) for name in names] for row in rows)])


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _cell(value: Any) -> str:
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value)
    shown = printable(text)
    return shown if len(shown) <= WIDEST else f"{shown[: WIDEST - 1]}…"
