"""docs/replay.md is true: its example runs, its commands and options exist, its fields are those
that may differ."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.__main__ import main
from kafkadouble.cli import replay, serve
from kafkadouble.replay.recorded import recording
from kafkadouble.replay.replay_run import ReplayOptions
from kafkadouble.replay.replayed_connection import MOST_RECORDS_S

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "replay.md").read_text()


def test_the_example_is_recorded_and_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(example, "replay.md", "exec"), {"__name__": "page"})
    (command,) = re.findall(r"^\$ kafkadouble (replay .*)$", PAGE, re.MULTILINE)
    with KafkaDouble() as kafka:
        words = [word.replace("localhost:9092", kafka.bootstrap_servers) for word in shlex.split(command)]
        assert main(words) == 0
    shown = re.compile(r"no differences: \d+ answers of \d+ requests compared")
    assert shown.fullmatch(capsys.readouterr().out.strip())
    assert shown.search(PAGE)


def test_page_of_replay_names_the_existing_options() -> None:
    options = set(re.findall(r"^\| `(--[a-z-]+)", PAGE, re.MULTILINE))
    known = {option for action in replay._parser()._actions for option in action.option_strings}
    assert options == known - {"-h", "--help"}
    assert "--capture-frames" in serve.parser().format_help()


def test_page_of_replay_has_the_numbers_of_the_code() -> None:
    assert f"the default is {ReplayOptions().patience:.0f}" in PAGE
    assert f"for {MOST_RECORDS_S:.0f} seconds" in PAGE
    assert f"up to {recording.MOST_BYTES >> 30} GB" in PAGE
