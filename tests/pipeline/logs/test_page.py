"""docs/kafka-log.md: its tables match the tables in the code, and its examples that need no Spark
are run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkadouble.pipeline.logs.diverging import SCHEMA
from kafkadouble.pipeline.logs.levels import level_of, options_of
from kafkadouble.pipeline.logs.options import EARLIEST, LATEST, OPTIONS

from . import plain, written

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "kafka-log.md").read_text()
PROGRAMS = [program for program in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "spark" not in program]
WORDS = {EARLIEST: "`earliest`", LATEST: "`latest`", (): "all", None: "none", True: "`true`", False: "`false`"}


def section(title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found
    return found[1]


def test_every_option_is_there_with_its_default() -> None:
    options = re.findall(r"^\| `(\w+)` \| ([^|]*) \|", section("Options"), re.MULTILINE)
    assert options == [(option.name, WORDS.get(option.default, f"`{option.default}`")) for option in OPTIONS]


def test_every_column_of_records_is_there_in_order() -> None:
    table = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| ([^|]*) \|", section("Levels"), re.MULTILINE)
    columns = [name for names, _ in table for name in re.findall(r"`(\w+)`", names)]
    assert columns == level_of("records").schema(options_of("records", {"includeHeaders": True})).names


@pytest.mark.parametrize("level", ["batches", "segments"])
def test_every_column_of_other_levels_is_there_in_order(level: str) -> None:
    (paragraph,) = re.findall(rf"\*\*`level={level}`\*\*: (.*?)\n\n", section("Levels"), re.DOTALL)
    names = level_of(level).schema(options_of(level, {})).names
    on_page = [name for name in re.findall(r"`(\w+)`", paragraph) if name in names]
    assert on_page == names


def test_every_column_of_divergence_is_there_in_order() -> None:
    columns = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", section("Where replicas differ"), re.MULTILINE)
    assert [name for names in columns for name in re.findall(r"`(\w+)`", names)] == SCHEMA.names


def test_the_programs_run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    common = [written.batch(0, 3), written.batch(3, 2)]
    written.segment(tmp_path / "1" / "orders-0", [*common, written.batch(5, 4)])
    written.segment(tmp_path / "2" / "orders-0", [*common, written.batch(5, 2, 1)])
    known = {"__name__": "page", "REPLICA_1": str(tmp_path / "1"), "REPLICA_2": str(tmp_path / "2")}
    assert len(PROGRAMS) == 3
    for program in PROGRAMS:
        exec(compile(program, "kafka-log.md", "exec"), dict(known))
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["42 ['partition', 'offset', 'value']", "36 ['partition', 'offset', 'value']"]
    expected = [each for each in plain.committed(written.GOLDEN) if each[0] == "mixed" and each[2] >= (40, 30)[each[1]]]
    assert lines[2] == str(len(expected)) == "5"
    assert "'first_difference': 5, 'truncation_offset': 5" in lines[3]
