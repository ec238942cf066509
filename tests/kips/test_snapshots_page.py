"""docs/snapshots.md is true: the tests that its rows name exist, its settings and defaults are
those of the code, and its parts exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkadouble.server.configs.broker import BROKER
from kafkadouble.server.raft.settings import NAMES as QUORUM
from kafkadouble.server.raft.settings import QuorumSettings
from kafkadouble.server.raft.snapshots import retention, triggers
from kafkadouble.server.raft.snapshots.retention import SnapshotRetention
from kafkadouble.server.raft.snapshots.triggers import SnapshotTriggers
from tests.support.pages import cells, names_of_tests

HOUSE = Path(__file__).resolve().parents[2]
HERE = HOUSE / "tests" / "server" / "raft" / "snapshots"
PAGE = (HOUSE / "docs" / "snapshots.md").read_text()
ROWS = [line for line in PAGE.splitlines() if re.match(r"\| \d+ \|", line)]
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")
SETTINGS = re.findall(r"^\| `((?:metadata|controller)[\w.]+)` \| (\w+) \|", PAGE, re.MULTILINE)
OF_THE_KIP = {"metadata.snapshot.min.changed_records.ratio", "metadata.start.offset.lag.time.max.ms"}


def test_the_rows_are_numbered() -> None:
    assert [int(cells(row)[0]) for row in ROWS] == list(range(1, len(ROWS) + 1))
    assert len(ROWS) >= 29


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(cells(row)[:2])[:60])
def test_a_row_is_whole_and_names_tests_that_are_there(row: str) -> None:
    assert len(cells(row)) == 7
    assert all(cells(row)[at] for at in (1, 4, 5, 6)), "what it is about, Kafka, here, and tests"
    if int(cells(row)[0]) <= 21:
        assert all(cells(row)), "of these both texts of the KIP speak"
    assert NAMED.sub("", cells(row)[-1]).strip() == ""
    for file, name in NAMED.findall(cells(row)[-1]):
        path = (HOUSE if "/" in file else HERE) / file
        assert name in names_of_tests(path), f"{file} has no {name}"


def test_snapshots_page_names_every_module() -> None:
    table = PAGE.partition("| part | what it is |")[2].partition("\n\n")[0]
    named = set(re.findall(r"`(?:server/[\w/]+/)?(\w+\.py)`", table))
    there = {path.name for path in (HOUSE / "server" / "raft" / "snapshots").glob("*.py")}
    assert named <= there | {"image_records.py"}
    unnamed = {"__init__.py", "snapshot_header.py", "validation.py", "cleaner.py", "service.py"}
    assert there - named == unnamed, "what is left is what puts the parts together"


def test_every_setting_is_there() -> None:
    assert {name for name, _ in SETTINGS} == {
        *triggers.NAMES,
        *retention.NAMES,
        "controller.quorum.fetch.snapshot.max.bytes",
    }


@pytest.mark.parametrize(("name", "default"), SETTINGS)
def test_a_setting_has_the_default_that_the_page_gives(name: str, default: str) -> None:
    of = {**triggers.NAMES, **retention.NAMES, **QUORUM}
    holder = next(each for each in (SnapshotTriggers(), SnapshotRetention(), QuorumSettings()) if _has(each, name))
    found = getattr(holder, of[name])
    assert default == ("none" if found is None else str(found))
    if name not in OF_THE_KIP:
        assert BROKER[name].default == default


def _has(holder: object, name: str) -> bool:
    tables = {SnapshotTriggers: triggers.NAMES, SnapshotRetention: retention.NAMES, QuorumSettings: QUORUM}
    return name in tables[type(holder)]
