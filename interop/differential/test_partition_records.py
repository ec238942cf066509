"""Two controllers that get the same requests about brokers and partitions write the same records:
for each partition, and for each broker.

The script is one of `test_controllers`, which compares the answers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from . import verdict
from .brokers import controllers
from .play import Play, Report
from .script import SCRIPTS
from .side import Side
from .verdict import Problem
from .written import Story, story

pytestmark = pytest.mark.usefixtures("kafka_jars")

SCRIPT = SCRIPTS / "controllers" / "at_controllers_partitions.txt"
STEM = "at-controllers-partitions-"
BROKERS = (81, 82, 83)
"""The broker ids of the script."""

ENOUGH = 50


class Written(NamedTuple):
    """The result of a play: the problems that stopped it, and the records of each controller."""

    unplayable: list[str]
    ours: Story
    theirs: Story


# For brokers that could not be started; other problems have their second play.
@pytest.mark.flaky(reruns=1, rerun_except="AssertionError")
@pytest.mark.timeout(400)
def test_the_same_is_written_of_each_partition(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    written, found = verdict.of_two(tmp_path, played, problems)
    records = sum(map(len, written.ours.values()))
    summary = f"{records} records of {len(written.ours)} partitions and brokers"
    found.require(record_property, summary, "records of partitions")
    assert records >= ENOUGH


def played(folder: Path) -> Written:
    report = Report()
    with controllers(folder) as addresses:
        sides = Side("kafkadouble", addresses[0]), Side("Kafka", addresses[1])
        Play(SCRIPT, *sides, report).run()
        for side in sides:
            side.begin(0)
        ours, theirs = (story(address, STEM, BROKERS) for address in addresses)
    return Written(report.unplayable, ours, theirs)


def problems(written: Written) -> list[Problem]:
    ours, theirs = written.ours, written.theirs
    differing = [each for each in sorted({**ours, **theirs}) if ours.get(each) != theirs.get(each)]
    return [
        *(Problem(("unplayable",), each) for each in written.unplayable),
        *(Problem((each,), f"{each}: ours {ours.get(each)}, theirs {theirs.get(each)}") for each in differing),
    ]
