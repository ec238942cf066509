"""docs/scripted.md is true: its example runs, its command and names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkadouble import ScriptedDouble
from kafkadouble.cli import scripted
from kafkadouble.scripted.fetch_script import MOST_WAIT_S

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "scripted.md").read_text()


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(example, "scripted.md", "exec"), {"__name__": "page"})


def test_page_of_scripted_doubles_names_existing_attributes() -> None:
    table = PAGE.partition("| of a `ScriptedDouble` |")[2].partition("##")[0]
    names = re.findall(r"^\| `(\w+)(?:\(\))?` \|", table, re.MULTILINE)
    assert names
    assert all(hasattr(ScriptedDouble, name) for name in names)
    (command,) = re.findall(r"^\$ kafkadouble scripted (.*)$", PAGE, re.MULTILINE)
    assert scripted._parser().parse_args(command.split()).port == 9092
    assert f"up to {MOST_WAIT_S} s" in PAGE
