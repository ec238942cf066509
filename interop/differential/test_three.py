"""The same requests to three brokers of a kafkadouble and of an Apache Kafka, some of which are
killed on the way.

Differences must be in divergence.toml, and those in its section about three brokers must occur, in
two plays: see `verdict`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from . import coverage, verdict
from .divergence import THREE, rows
from .play import Play, Report
from .script import SCRIPTS
from .three import three
from .verdict import Problem

pytestmark = pytest.mark.usefixtures("kafka_jars")

ENOUGH = 1500
"""Request pairs that differ in API, version or outcome."""


# For brokers that could not be started; other problems have their second play.
@pytest.mark.flaky(reruns=1, rerun_except="AssertionError")
@pytest.mark.timeout(1800)
def test_differences_of_clusters_are_listed(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    report, found = verdict.of_two(tmp_path, played, problems)
    found.require(record_property, f"three brokers: {report.summary()}", "three brokers")


def played(folder: Path) -> Report:
    """All scripts in their order, on clusters of their own: a run leaves the clusters with a broker
    less."""
    report = Report()
    with three(folder) as clusters:
        for path in sorted((SCRIPTS / "three").glob("*.txt")):
            Play(path, *clusters.sides, report, clusters.do).run()
        for side in clusters.sides:
            side.begin(0)
    return report


def problems(report: Report) -> list[Problem]:
    few = [f"{len(report.distinct)} that differ are few"] if len(report.distinct) < ENOUGH else []
    shown = [row for row in rows() if row.section == THREE]
    return verdict.of_report(report, rows(), shown, [*coverage.problems_of_three(report.codes), *few])
