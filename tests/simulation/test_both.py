"""What holds for the simulations of the quorum, of brokers and of whole lives: the same seed gives
the same run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.simulation import run
from tests.simulation.brokers import run as brokers
from tests.simulation.lives import run as lives

ROOT = Path(__file__).resolve().parents[2]

QUORUM, BROKERS, LIVES = "tests.simulation", "tests.simulation.brokers", "tests.simulation.lives"


@pytest.mark.parametrize(
    ("simulation", "scenario"),
    [
        (run, "anything"),
        (run, "come_and_go"),
        (brokers, "anything"),
        (brokers, "power_fails"),
        (brokers, "leaders_of_share_groups_die"),
        (brokers, "coordinators_of_streams_groups_die"),
        (lives, "single"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_seed_does_the_same_again(simulation: Any, scenario: str) -> None:
    one, other = (simulation.run(7, tracing=True, scenario=scenario) for _ in range(2))
    assert one.transcript == other.transcript
    assert simulation.run(8, tracing=True, scenario=scenario).digest != one.digest
    assert repr(simulation.run(7, scenario=scenario)) == repr(one), "to look at it changes nothing"


@pytest.mark.parametrize(
    ("module", "scenario"),
    [(QUORUM, "come_and_go"), (BROKERS, "anything_unclean"), (BROKERS, "markers_come_late"), (LIVES, "single")],
)
def test_a_seed_does_the_same_in_another_process(module: str, scenario: str) -> None:
    command = [sys.executable, "-m", module, "--seed", "3", "--scenario", scenario]
    outputs = [
        subprocess.run(
            command, cwd=ROOT, env={"PYTHONHASHSEED": hashes, "PYTHONPATH": "src"}, capture_output=True, check=True
        ).stdout
        for hashes in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) > 1000
