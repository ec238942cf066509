"""docs/traffic.md is true: its examples run, its columns and tables match those that exist, its
options exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkadouble.__main__ import VERBS
from kafkadouble.cli import serve
from kafkadouble.pipeline.traffic.schema import COLUMNS
from kafkadouble.pipeline.traffic.tables import TABLES
from kafkadouble.seen import capturing

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "traffic.md").read_text()


def test_the_examples_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        exec(compile(example, "traffic.md", "exec"), {"__name__": "page"})
    assert "'api': 'Metadata'" in capsys.readouterr().out


def test_page_of_traffic_names_the_existing_columns() -> None:
    columns = re.findall(r"^\| `(\w+)` \| (\S.*?) \| (.*) \|$", PAGE.partition("## The report")[0], re.MULTILINE)
    assert columns == [tuple(column) for column in COLUMNS]


def test_page_of_traffic_names_the_existing_tables() -> None:
    tables = re.findall(r"^\| `(\w+)` \|", PAGE.partition("## The report")[2], re.MULTILINE)
    assert tables == [table.name for table in TABLES]


def test_page_of_traffic_is_right_about_parts() -> None:
    assert (capturing.PART_S, capturing.PART_OF_RUN) == (10, 100)
    assert f"{capturing.PART_ROWS:,} rows or {capturing.PART_BYTES >> 20} MB" in PAGE


def test_page_of_traffic_names_existing_options_and_verbs() -> None:
    help_text = serve.parser().format_help()
    assert "--capture FILE" in help_text
    assert "--capture-bodies" in help_text
    assert "traffic" in VERBS
