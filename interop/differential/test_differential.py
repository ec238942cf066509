"""The same requests to a kafkadouble and to an Apache Kafka: each difference must be listed, and
each listed difference must occur."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.error_rows import ROWS

from . import coverage, verdict
from .brokers import both
from .divergence import CONTROLLERS, THREE, rows
from .play import Play, Report
from .script import ADVERTISED, SCRIPTS, by_settings
from .settle import first_answers
from .side import Side
from .verdict import Problem

pytestmark = pytest.mark.usefixtures("kafka_jars")

ENOUGH = 4000
"""Request pairs that differ in API, version or outcome."""


def compared(folder: Path) -> Report:
    """All scripts, played once: those with settings of their own are played to a pair of brokers
    with these settings."""
    report = Report()
    folder.mkdir()
    for number, (broker_settings, paths) in enumerate(by_settings(SCRIPTS)):
        with both(folder / f"{number}", broker_settings) as (double, kafka):
            sides = Side("kafkadouble", double), Side("Kafka", kafka)
            for side in sides if not broker_settings else ():
                first_answers(side)
            for path in paths:
                Play(path, *sides, report).run()
            for side in sides:
                side.begin(0)
    return report


# For brokers that could not be started; other problems have their second play.
@pytest.mark.flaky(reruns=1, rerun_except="AssertionError")
@pytest.mark.timeout(2400)
def test_differences_of_brokers_are_exactly_the_listed_ones(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """One test for all of them, since one Kafka serves all scripts."""
    report, found = verdict.of_two(tmp_path, compared, problems)
    found.require(record_property, f"{report.summary()}; {_of_rows(report)}", "one broker")


def problems(report: Report) -> list[Problem]:
    listed = [row for row in rows() if row.section not in (CONTROLLERS, THREE)]
    served = {(api, version) for api, (low, high) in ADVERTISED.items() for version in range(low, high + 1)}
    others = [
        *coverage.problems(report.codes, report.codes_of_kafka),
        *(f"{api} v{version} is not compared" for api, version in sorted(served - report.versions.keys())),
        *([f"{len(report.distinct)} that differ are few"] if len(report.distinct) < ENOUGH else []),
    ]
    return verdict.of_report(report, listed, listed, others)


def _of_rows(report: Report) -> str:
    excused = len(coverage.excuses())
    provoked = sum((api, code) in report.codes for api, codes in ROWS.items() for code in codes)
    return f"of the rows of errors {provoked} were provoked on both brokers, {excused} are excused"
