"""The same requests to a kafkadouble and to an Apache Kafka: what differs must be listed, and what is listed must differ."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from interop.conftest import TOLD
from interop.local import Missing, jars
from kafkadouble.server.handlers.error_rows import ROWS

from . import coverage
from .brokers import both
from .divergence import rows, sorted_out
from .play import Play, Report
from .script import SCRIPTS, SERVED, settings
from .settle import first_answers
from .side import Side

ENOUGH = 4000
"""Request pairs that differ in API, version or outcome."""


def compared(folder: Path) -> Report:
    """All scripts, played once: those that want settings of their own to a pair of brokers that has them."""
    report, scripts = Report(), dict[tuple[str, ...], list[Path]]()
    for path in sorted(SCRIPTS.glob("*.txt")):
        scripts.setdefault(settings(path), []).append(path)
    for number, (wanted, paths) in enumerate(sorted(scripts.items())):
        with both(folder / f"{number}", wanted) as (double, kafka):
            sides = Side("kafkadouble", double), Side("Kafka", kafka)
            for side in sides if not wanted else ():
                first_answers(side)
            for path in paths:
                Play(path, *sides, report).run()
            for side in sides:
                side.begin(0)
    return report


@pytest.mark.timeout(600)
def test_what_differs_is_listed_and_what_is_listed_differs(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """One test for all of it, since one Kafka serves all scripts."""
    try:
        jars()
    except Missing as missing:
        pytest.skip(f"NOTHING WAS COMPARED WITH APACHE KAFKA: {missing}")
    report = compared(tmp_path)
    unlisted, unused = sorted_out(report.found, rows())
    record_property(TOLD, f"{report.summary()}; {_of_rows(report)}")
    assert report.unplayable == []
    assert [str(each) for each in unlisted[:20]] == [], f"{len(unlisted)} differences are not in divergence.toml"
    assert unused == [], "listed in divergence.toml, and no longer different"
    assert coverage.problems(report.codes, report.codes_of_kafka) == []
    served = {(api, version) for api, (low, high) in SERVED.items() for version in range(low, high + 1)}
    assert sorted(served - report.versions.keys()) == [], "not compared"
    assert len(report.distinct) >= ENOUGH


def _of_rows(report: Report) -> str:
    excused = len(coverage.excuses())
    provoked = sum((api, code) in report.codes for api, codes in ROWS.items() for code in codes)
    return f"of the rows of errors {provoked} were provoked on both brokers, {excused} are excused"
