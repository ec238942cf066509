"""The measured figures, each with its goal: as a table for people, as results.json, or as one JSON
object of `report.Table`.

`results.json` is committed; `make generate` makes a table of docs/performance.md from it.
"""

from __future__ import annotations

import datetime
import json
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import Table

GOAL = "goal"
RESULTS = Path(__file__).with_name("results.json")


class Figure(NamedTuple):
    """One figure. `least` and `most` are goals; a figure without one is for comparison. `more` is a
    note for the reader.
    """

    case: str
    value: float
    unit: str
    least: float | None = None
    most: float | None = None
    more: str = ""

    @property
    def goal(self) -> str:
        if self.least is None and self.most is None:
            return ""
        return f"at least {self.least:g}" if self.most is None else f"at most {self.most:g}"

    @property
    def missed(self) -> bool:
        return (self.least is not None and self.value < self.least) or (
            self.most is not None and self.value > self.most
        )

    @property
    def verdict(self) -> str:
        return ("missed" if self.missed else "met") if self.goal else ""


def as_text(figures: Sequence[Figure]) -> str:
    lines = []
    for figure in figures:
        goal = f"   {GOAL} {figure.goal}: {figure.verdict}" if figure.goal else ""
        more = f"   ({figure.more})" if figure.more else ""
        lines.append(f"  {figure.case:58}  {figure.value:8.4g} {figure.unit}{goal}{more}")
    return "\n".join(lines)


def rows(figures: Sequence[Figure]) -> list[str]:
    """The rows of a table in Markdown."""
    return [
        f"| {figure.case}{f' ({figure.more})' if figure.more else ''} | {figure.value:.3g} {figure.unit} "
        f"| {figure.goal} | {figure.verdict} |"
        for figure in figures
    ]


def commit(figures: Sequence[Figure]) -> None:
    """Writes results.json."""
    filled = [{name: value for name, value in each._asdict().items() if value not in (None, "")} for each in figures]
    results = {"date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}", "machine": machine(), "figures": filled}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def committed() -> list[Figure]:
    """The figures of results.json."""
    return [Figure(**each) for each in json.loads(RESULTS.read_text())["figures"]]


def as_table(figures: Sequence[Figure]) -> Table:
    """A goal is a peer."""
    table = Table("spark", "the unit is behind each case")
    for figure in figures:
        goal = figure.least if figure.most is None else figure.most
        table.add(f"{figure.case}, {figure.unit}", figure.value, {} if goal is None else {GOAL: goal})
    return table


def machine() -> str:
    """The machine of these figures."""
    import os

    import numpy
    import pyarrow
    import pyspark

    models = [line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    parts = [
        f"{os.cpu_count()} cores of {models[0] if models else platform.machine()}",
        f"Python {platform.python_version()}",
        f"pyspark {pyspark.__version__}",
        f"pyarrow {pyarrow.__version__}",
        f"numpy {numpy.__version__}",
        f"load average {os.getloadavg()[0]:.1f}",
    ]
    return ", ".join(parts)


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []
