"""docs/ctl.md: its commands succeed, in the order of the page."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.cli import ctl
from kafkadouble.control.server import ControlServer
from tests.support.pages import DOCS, blocks

PAGE = (DOCS / "ctl.md").read_text()
COMMANDS = [line for block in blocks(PAGE, "bash") for line in block.text.splitlines()]


def test_the_commands_succeed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with KafkaDouble() as kafka, ControlServer(kafka) as control:
        monkeypatch.setenv(ctl.URL, control.url)
        kafka.create_topic("orders", 2)
        for line in COMMANDS:
            if line.startswith("printf"):
                assert os.system(line) == 0
                continue
            program, command, *words = shlex.split(line.partition(" || ")[0])
            assert (program, command) == ("kafkadouble", "ctl")
            if "wait_for_records orders --count 2" in line:
                kafka.produce("orders", "the second one")
            assert ctl.main(words) == 0, line


def test_the_default_is_that_of_the_program() -> None:
    assert ctl.DEFAULT_URL.rpartition(":")[2] in PAGE
