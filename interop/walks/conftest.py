"""Prints a summary at the end of a run: the size of the matrix on each broker, and the clients that
were left out of the matrix. With `--results`, it writes all results to a file.

    pytest interop/walks --broker double --broker local --results interop/walks/results.json
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from interop.conftest import ON

WALK, ROW, ENDURED = "walk", "row", "endured"
"""Properties of a report: the object that a program wrote, a row of the matrix, and the result of a
program while brokers were killed."""


class WalkProperty(NamedTuple):
    """A value that a test reports for a broker, with the name of its property."""

    broker: str
    kind: str
    value: Any


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--results",
        type=Path,
        metavar="FILE",
        help="the file for the results of the clients, from which the page of clients is generated",
    )


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    properties = _properties(terminalreporter)
    rows, cells, left_out = Counter[str](), Counter[str](), Counter[str]()
    for broker, kind, value in properties:
        if kind == ROW:
            rows[broker] += 1
            cells[broker] += len(value["cells"])
            left_out.update(f"{reader}: {reason}" for reader, reason in value["left_out"].items())
    for broker in sorted(rows):
        terminalreporter.write_line(f"matrix on {broker}: {rows[broker]} writers, {cells[broker]} cells")
    for reason, count in sorted(left_out.items()):
        terminalreporter.write_line(f"left out of {count} rows of the matrix: {reason}")
    if path := config.getoption("--results", default=None):
        path.write_text(as_json(properties))


def _properties(terminalreporter: pytest.TerminalReporter) -> list[WalkProperty]:
    found = []
    for report in [each for outcome in ("passed", "failed") for each in terminalreporter.stats.get(outcome, [])]:
        properties = list(getattr(report, "user_properties", ()))
        broker = dict(properties).get(ON)
        found += [
            WalkProperty(broker, kind, value) for kind, value in properties if broker and kind in (WALK, ROW, ENDURED)
        ]
    return found


def as_json(properties: list[WalkProperty]) -> str:
    """The results as JSON, by broker: the object of each client's walk, the faults of each reader
    by writer, and the faults of each client while brokers were killed. Equal results give equal
    JSON."""
    made: dict[str, dict[str, dict[str, Any]]] = {}
    for broker, kind, value in properties:
        of = made.setdefault(broker, {"walks": {}, "matrix": {}, "endured": {}})
        if kind == WALK:
            of["walks"][value["client"]] = {"version": value["version"], "behaviours": value["behaviours"]}
        elif kind == ENDURED:
            of["endured"][value["client"]] = "; ".join(value["wrong"])
        else:
            of["matrix"][value["writer"]] = {reader: "; ".join(wrong) for reader, wrong in value["cells"].items()}
    return json.dumps(made, indent=1, sort_keys=True) + "\n"
