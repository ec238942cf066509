"""docs/server.md: its options are known, its commands succeed, and the scripts of its jobs run,
with other ports, and tests that pass or fail."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from kafkadouble import KafkaDouble
from kafkadouble.cli import ctl
from kafkadouble.cli.serve import parser
from kafkadouble.common.listening import listen
from kafkadouble.control.server import ControlServer
from tests.support.pages import DOCS, blocks

PAGE = (DOCS / "server.md").read_text()
JOBS = {block.title: yaml.safe_load(block.text) for block in blocks(PAGE, "yaml")}
SERVE = "kafkadouble serve"

TESTS = """
import os, socket, sys
host, _, port = os.environ["BOOTSTRAP_SERVERS"].rpartition(":")
with socket.create_connection((host, int(port))) as sock:
    sock.sendall(bytes.fromhex("000000110012000000000001000762792d68616e64"))
    sock.recv(4)
sys.exit(int(sys.argv[1]))
"""
"""Stands for the tests of a service: an ApiVersions request of the client by-hand, and an exit
code."""


def steps(job: Mapping[str, Any]) -> tuple[list[str], str]:
    """What a job runs one after another, and what it runs if that fails."""
    if "jobs" not in job:
        return job["test"]["script"], ""
    found = job["jobs"]["test"]["steps"]
    (on_failure,) = (each["run"] for each in found if each.get("if") == "failure()")
    return [each["run"] for each in found if "run" in each and "if" not in each], on_failure


def test_the_options_are_known() -> None:
    commands = [line for block in blocks(PAGE, "sh") for line in block.text.splitlines() if line.startswith(SERVE)]
    rows = [line.split("|")[2] for line in PAGE.splitlines() if line.startswith("| ") and "`--" in line]
    options = [option for row in rows for option in re.findall(r"`(-[^`]+)`", row)]
    assert (len(commands), len(options)) == (1, 11)
    for words in [commands[0].removeprefix(SERVE), *options]:
        parser().parse_args(shlex.split(words))


def test_the_commands_succeed(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = [line for block in blocks(PAGE, "bash") for line in block.text.splitlines()]
    with KafkaDouble() as kafka, ControlServer(kafka) as control:
        kafka.create_topic("orders")
        monkeypatch.setenv(ctl.URL, control.url)
        for words in map(shlex.split, commands[1:]):
            assert words[:2] == ["kafkadouble", "ctl"]
            if words[2] == "wait_for_topic":
                kafka.create_topic("orders")  # the topic of --topic
            assert ctl.main(words[2:]) == 0, words


def test_the_codes_are_those_of_the_help() -> None:
    codes = parser().format_help().partition("Exit codes: ")[2]
    assert re.findall(r"\b\d\b", codes.partition(".")[0]) == re.findall(r"\b\d\b(?= for)|(?<=exit code )0", PAGE)


@pytest.mark.parametrize("title", JOBS)
@pytest.mark.parametrize("passing", [True, False])
def test_the_script_of_a_job_runs(title: str, passing: bool, tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("there is no curl, which the jobs of docs/server.md need")
    commands, on_failure = steps(JOBS[title])
    assert commands[0] == "pip install 'kafkadouble[control]'"
    (tmp_path / "tests.py").write_text(TESTS)
    ended = run_job(commands[1:], on_failure, f"{sys.executable} tests.py {int(not passing)}", tmp_path)
    assert (ended.returncode == 0) is passing, ended.stdout + ended.stderr
    assert "bootstrap.servers=127.0.0.1:" in ended.stdout
    assert '"status":"ready"' in ended.stdout
    assert ("by-hand" in ended.stdout) is not passing  # the requests


def run_job(commands: list[str], on_failure: str, tests: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs the commands in one shell, as a job does, and ends what is left behind."""
    with listen("127.0.0.1", 0) as first, listen("127.0.0.1", 0) as second:
        port, control = (each.getsockname()[1] for each in (first, second))
    script = "\n".join(commands).replace("npm test", tests).replace("9092", str(port)).replace("9099", str(control))
    program = folder / "kafkadouble"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m kafkadouble "$@"\n')
    program.chmod(0o755)
    handled = f"trap 'code=$?; [ $code = 0 ] || {{ {on_failure or ':'}; }}; kill %1; wait; exit $code' EXIT\nset -e\n"
    environment = {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "BOOTSTRAP_SERVERS": f"127.0.0.1:{port}",
        ctl.URL: f"http://127.0.0.1:{control}",
    }
    return subprocess.run(
        ["bash", "-mc", handled + script],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
