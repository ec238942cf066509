"""At the end of a run: how large the matrix was on each broker, and which readers were left out of it."""

from __future__ import annotations

from collections import Counter

import pytest

from interop.conftest import ON

CELLS, LEFT_OUT = "cells", "left out"
"""Properties of a report on one writer."""


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    rows, cells, left_out = Counter[str](), Counter[str](), Counter[str]()
    for report in [each for outcome in ("passed", "failed") for each in terminalreporter.stats.get(outcome, [])]:
        properties = list(getattr(report, "user_properties", ()))
        name = dict(properties).get(ON)
        counts = [value for key, value in properties if key == CELLS]
        if name and counts:
            rows[name] += 1
            cells[name] += counts[0]
            left_out.update(value for key, value in properties if key == LEFT_OUT)
    for name in sorted(rows):
        terminalreporter.write_line(f"matrix on {name}: {rows[name]} writers, {cells[name]} cells")
    for reason, count in sorted(left_out.items()):
        terminalreporter.write_line(f"left out of {count} rows of the matrix: {reason}")
