"""The same requests to a kafkadouble and to an Apache Kafka: what differs must be listed, and what is listed must differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from interop.local import Missing, jars

from .brokers import both
from .divergence import rows, sorted_out
from .play import Play, Report
from .script import SCRIPTS, SERVED
from .settle import first_answers
from .side import Side

ENOUGH = 1500
"""Request pairs that differ in API, version or outcome."""


def compared(folder: Path) -> Report:
    """All scripts, played once."""
    report = Report()
    with both(folder) as (double, kafka):
        sides = Side("kafkadouble", double), Side("Kafka", kafka)
        for side in sides:
            first_answers(side)
        for path in sorted(SCRIPTS.glob("*.txt")):
            Play(path, *sides, report).run()
        for side in sides:
            side.begin(0)
    return report


@pytest.mark.timeout(400)
def test_what_differs_is_listed_and_what_is_listed_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One test for all of it, since one Kafka serves all scripts."""
    try:
        jars()
    except Missing as missing:
        pytest.skip(f"NOTHING WAS COMPARED WITH APACHE KAFKA: {missing}")
    report = compared(tmp_path)
    unlisted, unused = sorted_out(report.found, rows())
    with capsys.disabled():
        print(f"\n{report.summary()}")
    assert report.unplayable == []
    assert [str(each) for each in unlisted[:20]] == [], f"{len(unlisted)} differences are not in divergence.toml"
    assert unused == [], "listed in divergence.toml, and no longer different"
    served = {(api, version) for api, (low, high) in SERVED.items() for version in range(low, high + 1)}
    assert sorted(served - report.versions.keys()) == [], "not compared"
    assert len(report.distinct) >= ENOUGH
