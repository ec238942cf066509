"""`serve --until-stdin-ends`: it lives as long as the program that holds the other end of stdin."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator

import pytest

from tests.control.http import call
from tests.support.serving import KAFKADOUBLE

WORDS = "serve", "--port", "0", "--control-port", "0", "--until-stdin-ends", "-q"


@pytest.fixture
def process() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen([*KAFKADOUBLE, *WORDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        yield started
        started.kill()


def control_url(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    lines = (line.rstrip("\n").partition("=") for line in process.stdout)
    return next(value for name, _, value in lines if name == "control.url")


def test_the_end_of_stdin_ends_it_in_order(process: subprocess.Popen[str]) -> None:
    control_url(process)
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(60) == 0


def test_a_signal_of_the_terminal_is_left_to_the_other_program(process: subprocess.Popen[str]) -> None:
    url = control_url(process)
    process.send_signal(signal.SIGINT)
    assert call(url, "GET", "/health").json["status"] == "running"
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0


def test_a_stdin_that_has_ended_before_the_start_ends_it() -> None:
    done = subprocess.run(
        [*KAFKADOUBLE, *WORDS], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
